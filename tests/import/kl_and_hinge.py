import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 64
dim = 32


class Model(nn.Module):
    def forward(self, p, q, targets):
        return (F.kl_div(torch.log(p), q, reduction="batchmean"),
                torch.mean(torch.clamp(1 - p * targets, min=0)), F.kl_div(torch.log(p), q))


def get_inputs():
    return [torch.randn(batch_size, dim).softmax(dim=-1), torch.randn(batch_size, dim).softmax(dim=-1),
            torch.randint(0, 2, (batch_size, 1)).float() * 2 - 1]


def get_init_inputs():
    return []
