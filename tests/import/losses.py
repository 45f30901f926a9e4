import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 64
num_classes = 10


class Model(nn.Module):
    def forward(self, x, t, y):
        logs = torch.log_softmax(x, 1)
        return {"of_classes": (F.cross_entropy(x, t), F.cross_entropy(x, t, label_smoothing=0.1),
                               F.nll_loss(logs, t), F.cross_entropy(x, t, ignore_index=3),
                               F.cross_entropy(x, t, ignore_index=0, reduction="sum"),
                               F.nll_loss(logs, t, ignore_index=3),
                               F.nll_loss(logs, t, ignore_index=3, reduction="none")),
                "of_numbers": [F.smooth_l1_loss(x, y), F.huber_loss(x, y, delta=0.5),
                               torch.mean((x - y) ** 2), F.mse_loss(x, y, reduction="sum"),
                               F.l1_loss(x, y)],
                "of_bits": (F.binary_cross_entropy_with_logits(x, torch.sigmoid(y)), None,
                            F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(y)))}


def get_inputs():
    return [torch.randn(batch_size, num_classes), torch.randint(0, num_classes, (batch_size,)),
            torch.randn(batch_size, num_classes)]


def get_init_inputs():
    return []
