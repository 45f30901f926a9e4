import torch
import torch.nn as nn

num_classes = 10


class Model(nn.Module):
    """The sizes of its images have no names."""

    def __init__(self, num_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 7, stride=4, padding=3), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 64, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2))
        self.classifier = nn.Linear(64, num_classes)

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


def get_inputs():
    return [torch.rand(16, 3, 224, 192)]


def get_init_inputs():
    return [num_classes]
