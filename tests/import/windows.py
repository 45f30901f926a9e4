import torch
import torch.nn as nn

batch_size = 2
size = 12
dim = 8


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self.bias_table = nn.Parameter(torch.randn(25, 2))
        coords = torch.stack(torch.meshgrid(torch.arange(3), torch.arange(3), indexing="ij")).flatten(1)
        relative = (coords[:, :, None] - coords[:, None]).permute(1, 2, 0) + 2
        self.register_buffer("index", relative[..., 0] * 5 + relative[..., 1])

    def forward(self, x):
        b, h, w, c = x.shape
        x = torch.roll(x, shifts=(-1, -1), dims=(1, 2))
        x = x.view(b, h // 3, 3, w // 3, 3, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 9, c)
        q, k, v = self.qkv(x).reshape(-1, 9, 3, 2, c // 2).permute(2, 0, 3, 1, 4)
        bias = self.bias_table[self.index.view(-1)].view(9, 9, 2).permute(2, 0, 1)
        attn = torch.softmax(q * 0.5 @ k.transpose(-2, -1) + bias.unsqueeze(0), dim=-1)
        x = (attn @ v).transpose(1, 2).reshape(-1, 3, 3, c)
        x = x.view(b, h // 3, w // 3, 3, 3, c).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)
        return torch.roll(x, shifts=(1, 1), dims=(1, 2))


def get_inputs():
    return [torch.randn(batch_size, size, size, dim)]


def get_init_inputs():
    return []
