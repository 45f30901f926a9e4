import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 8
dim = 24


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1 = nn.Linear(dim, 2 * dim, bias=False)
        self.w2 = nn.Linear(dim, dim)
        self.prelu = nn.PReLU(dim)
        self.gru = nn.GRUCell(dim, 2 * dim)
        self.lstm = nn.LSTMCell(dim, dim, bias=False)
        self.rnn = nn.RNNCell(dim, dim)
        self.relu = nn.RNNCell(dim, dim, nonlinearity="relu", bias=False)

    def forward(self, x):
        a, b = self.w1(x).chunk(2, dim=-1)
        cells = self.gru(x, self.w1(x)), self.lstm(x, (a, b)), self.lstm(x), self.rnn(x, a), self.relu(x, b)
        return (self.prelu(self.w2(F.silu(a) * b)) + F.glu(self.w1(x)),
                torch.addmm(self.w2.bias, x, self.w2.weight), cells)


def get_inputs():
    return [torch.randn(batch_size, dim)]


def get_init_inputs():
    return []
