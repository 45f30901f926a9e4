import torch
import torch.nn as nn

batch_size = 16
features = 24
dim1 = 12
dim2 = 10


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bn = nn.BatchNorm2d(features)
        self.plain = nn.BatchNorm2d(features, affine=False)
        self.gn = nn.GroupNorm(4, features)
        self.inorm = nn.InstanceNorm2d(features)
        self.affine = nn.InstanceNorm2d(features, affine=True)

    def forward(self, x):
        return self.affine(self.gn(self.inorm(self.bn(x)))) + self.plain(x)


def get_inputs():
    return [torch.randn(batch_size, features, dim1, dim2)]


def get_init_inputs():
    return [features]
