import torch
import torch.nn as nn

batch_size = 16
length = 40


class Model(nn.Module):
    def forward(self, x, mask):
        exclusive = torch.cumsum(torch.cat((torch.zeros_like(x.select(1, 0).unsqueeze(1)), x), dim=1), dim=1)
        reverse = torch.cumsum(x.flip(1), dim=1).flip(1)
        return (torch.cumsum(x, dim=1), exclusive[:, :-1], reverse, torch.cumsum(x * mask, dim=1),
                torch.cumprod(x, dim=1), torch.cumsum(x, dim=0), torch.cumsum(mask.long(), dim=1),
                ~mask.int(), x[:, mask[0].long()])


def get_inputs():
    return [torch.randn(batch_size, length), torch.randint(0, 2, (batch_size, length)).bool()]


def get_init_inputs():
    return []
