import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 64
dim = 32


class Model(nn.Module):
    def __init__(self, margin):
        super().__init__()
        self.triplet = nn.TripletMarginLoss(margin=margin)

    def forward(self, a, p, n):
        cosine = torch.mean(1 - F.cosine_similarity(a, p, dim=1))
        return self.triplet(a, p, n), cosine, F.cosine_similarity(a, p, dim=0), F.pairwise_distance(a, n)


def get_inputs():
    return [torch.randn(batch_size, dim), torch.randn(batch_size, dim), torch.randn(batch_size, dim)]


def get_init_inputs():
    return [1.0]
