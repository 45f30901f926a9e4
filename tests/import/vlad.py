import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 4
samples = 20
feature_size = 12


class Model(nn.Module):
    def __init__(self, clusters):
        super().__init__()
        self.clusters = nn.Parameter(torch.randn(feature_size, clusters))
        self.bn = nn.BatchNorm1d(clusters)
        self.clusters2 = nn.Parameter(torch.randn(1, feature_size, clusters))

    def forward(self, x):
        a = F.softmax(self.bn(torch.matmul(x.view(-1, feature_size), self.clusters)), dim=1)
        a = a.view(-1, samples, 6)
        total = torch.sum(a, dim=1, keepdim=True) * self.clusters2
        vlad = torch.matmul(a.transpose(1, 2), x.view(-1, samples, feature_size)).transpose(1, 2) - total
        vlad = F.normalize(vlad).reshape(-1, 6 * feature_size)
        return F.normalize(vlad)


def get_inputs():
    return [torch.randn(batch_size, samples, feature_size)]


def get_init_inputs():
    return [6]
