import torch
import torch.nn as nn

batch_size = 4
seq_len = 10
input_size = 12
hidden_size = 16


class Model(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, 3, bias=False)
        self.rnn = nn.RNN(hidden_size, hidden_size, nonlinearity="relu")

    def forward(self, x, h0):
        output, hn = self.gru(x, h0)
        return self.rnn(output)[0], hn


def get_inputs():
    return [torch.randn(seq_len, batch_size, input_size), torch.randn(3, batch_size, hidden_size)]


def get_init_inputs():
    return [input_size, hidden_size]
