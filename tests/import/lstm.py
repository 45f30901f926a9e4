import torch
import torch.nn as nn

batch_size = 4
sequence_length = 10
input_size = 12
hidden_size = 16


class Model(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.h0 = torch.randn((4, batch_size, hidden_size))
        self.lstm = nn.LSTM(input_size, hidden_size, 2, batch_first=True, bidirectional=True, dropout=0.1)
        self.fc = nn.Linear(2 * hidden_size, 5)

    def forward(self, x):
        out, state = self.lstm(x, (self.h0, self.h0))
        return self.fc(out[:, -1, :]), state


def get_inputs():
    return [torch.randn(batch_size, sequence_length, input_size)]


def get_init_inputs():
    return [input_size, hidden_size]
