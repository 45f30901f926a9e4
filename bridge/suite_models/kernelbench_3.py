"""KernelBench tasks on CPU (own text, v0 shapes, f32, weights as inputs), level 3.

A task names its weights after their place, F3a1 say; the models below find them by the same names.
Where a task stacks the weights of equal layers, so does the model.
"""
import math

import torch
import torch.nn.functional as F

from .modes import batch_norm


def bn(i, x, place):
    return batch_norm(i, x, [letter + place for letter in "MVGB"])


def conv_bn(i, x, place, stride=1, padding=0, groups=1):
    return bn(i, F.conv2d(x, i["F" + place], None, stride, padding, 1, groups), place)


def mlp(i, layers):
    x = i.X
    for l in range(1, layers):
        x = F.relu(F.linear(x, i[f"W{l}"], i[f"b{l}"]))
    return F.linear(x, i[f"W{layers}"], i[f"b{layers}"])


def head(i, x):
    return F.linear(x.mean((2, 3)), i.W, i.b)


# ---- convolutional networks ----

def lenet5(i):
    x = F.max_pool2d(F.relu(F.conv2d(i.X, i.F1, i.b1)), 2)
    x = F.max_pool2d(F.relu(F.conv2d(x, i.F2, i.b2)), 2).flatten(1)
    x = F.relu(F.linear(x, i.W3, i.b3))
    return F.linear(F.relu(F.linear(x, i.W4, i.b4)), i.W5, i.b5)


def alexnet(i):
    x = F.max_pool2d(F.relu(F.conv2d(i.X, i.F1, i.b1, 4, 2)), 3, 2)
    x = F.max_pool2d(F.relu(F.conv2d(x, i.F2, i.b2, 1, 2)), 3, 2)
    x = F.relu(F.conv2d(x, i.F3, i.b3, 1, 1))
    x = F.relu(F.conv2d(x, i.F4, i.b4, 1, 1))
    x = F.max_pool2d(F.relu(F.conv2d(x, i.F5, i.b5, 1, 1)), 3, 2).flatten(1)
    x = F.relu(F.linear(x, i.W6, i.b6))
    return F.linear(F.relu(F.linear(x, i.W7, i.b7)), i.W8, i.b8)


def inception(x, f1, b1, r3, s3, f3, b3, r5, s5, f5, b5, fp, bp):
    return torch.cat((
        F.conv2d(x, f1, b1),
        F.conv2d(F.conv2d(x, r3, s3), f3, b3, padding=1),
        F.conv2d(F.conv2d(x, r5, s5), f5, b5, padding=2),
        F.conv2d(F.max_pool2d(x, 3, 1, 1), fp, bp)), 1)


def inception_module(i):
    return inception(i.X, i.F1, i.b1, i.R3, i.r3, i.F3, i.b3, i.R5, i.r5, i.F5, i.b5, i.FP, i.bP)


def googlenet(i):
    x = F.max_pool2d(F.relu(F.conv2d(i.X, i.F1, i.b1, 2, 3)), 3, 2, 1)
    x = F.relu(F.conv2d(x, i.F2, i.b2))
    x = F.max_pool2d(F.relu(F.conv2d(x, i.F3, i.b3, 1, 1)), 3, 2, 1)
    for place in ("3a", "3b", "4a", "4b", "4c", "4d", "4e", "5a", "5b"):
        x = inception(x, *(i[n + place] for letter in "APBQDE" for n in (letter, letter.lower())))
        if place in ("3b", "4e"):
            x = F.max_pool2d(x, 3, 2, 1)
    return head(i, x)


def basic_block(i):
    x = F.relu(conv_bn(i, i.X, "1", 1, 1))
    return F.relu(conv_bn(i, x, "2", 1, 1) + conv_bn(i, i.X, "3"))


def resnet18(i):
    x = F.max_pool2d(F.relu(conv_bn(i, i.X, "0", 2, 3)), 3, 2, 1)
    for k in "1234":
        for first, second in ("ab", "cd"):
            down = k != "1" and first == "a"
            shortcut = conv_bn(i, x, k + "s", 2) if down else x
            y = F.relu(conv_bn(i, x, k + first, 2 if down else 1, 1))
            x = F.relu(conv_bn(i, y, k + second, 1, 1) + shortcut)
    return head(i, x)


def stacked(i, x, place, l, stride=1):
    f = i["F" + place][l]
    z = F.conv2d(x, f, None, stride, f.shape[-1] // 2)
    return batch_norm(i, z, [letter + place for letter in "MVGB"], lambda stack: stack[l])


def resnet101(i):
    x = F.max_pool2d(F.relu(stacked(i, i.X, "0", 0, 2)), 3, 2, 1)
    for k in "1234":
        stride = 1 if k == "1" else 2
        y = F.relu(stacked(i, x, k + "a1", 0))
        y = F.relu(stacked(i, y, k + "a2", 0, stride))
        x = F.relu(stacked(i, y, k + "a3", 0) + stacked(i, x, k + "s", 0, stride))
        for l in range(len(i[f"F{k}b1"])):
            y = F.relu(stacked(i, x, k + "b1", l))
            y = F.relu(stacked(i, y, k + "b2", l))
            x = F.relu(stacked(i, y, k + "b3", l) + x)
    return head(i, x)


def vgg(i):
    x = i.X
    for block in "12345":
        for letter in "abcd":
            if f"F{block}{letter}" in i:
                x = F.relu(F.conv2d(x, i[f"F{block}{letter}"], i[f"b{block}{letter}"], 1, 1))
        x = F.max_pool2d(x, 2)
    x = F.relu(F.linear(x.flatten(1), i.W1, i.b1))
    return F.linear(F.relu(F.linear(x, i.W2, i.b2)), i.W3, i.b3)


def dense_layer(i, x, place):
    return torch.cat((x, F.conv2d(F.relu(bn(i, x, place)), i["F" + place], None, 1, 1)), 1)


def dense_block(i):
    x = i.X
    for place in "123456":
        x = dense_layer(i, x, place)
    return x


def densenet(layers):
    def model(i):
        x = F.max_pool2d(F.relu(conv_bn(i, i.X, "0", 2, 3)), 3, 2, 1)
        for block, count in enumerate(layers, 1):
            for l in range(1, count + 1):
                x = dense_layer(i, x, f"{block}_{l}")
            if block < len(layers):
                place = f"{block}_t"
                x = F.avg_pool2d(F.conv2d(F.relu(bn(i, x, place)), i["F" + place]), 2)
        return head(i, F.relu(bn(i, x, "")))
    return model


def fire(x, fs, bs, f1, b1, f3, b3):
    z = F.relu(F.conv2d(x, fs, bs))
    return torch.cat((F.relu(F.conv2d(z, f1, b1)), F.relu(F.conv2d(z, f3, b3, 1, 1))), 1)


def squeezenet(i):
    def pool(x):
        return F.max_pool2d(x, 3, 2, ceil_mode=True)
    x = pool(F.relu(F.conv2d(i.X, i.F1, i.b1, 2)))
    for k in "23456789":
        x = fire(x, i["S" + k], i["s" + k], i["P" + k], i["p" + k], i["Q" + k], i["q" + k])
        if k in "48":
            x = pool(x)
    return F.relu(F.conv2d(x, i.FC, i.bC)).mean((2, 3))


def depthwise(i, x, place, stride):
    f = i["F" + place]
    return conv_bn(i, x, place, stride, f.shape[-1] // 2, len(f))


def mobilenet_v1(i):
    x = F.relu(conv_bn(i, i.X, "0", 2, 1))
    for k in range(1, 14):
        x = F.relu(depthwise(i, x, f"{k}a", 2 if k in (2, 4, 6, 12) else 1))
        x = F.relu(conv_bn(i, x, f"{k}b"))
    x = F.avg_pool2d(x, x.shape[-1])
    return F.linear(x.flatten(1), i.W, i.b)


def inverted(blocks, strided, residual, activation):
    """Inverted bottlenecks numbered from 1; those that need it expand first."""
    def model(i):
        x = activation(conv_bn(i, i.X, "0", 2, 1))
        for k in range(1, blocks + 1):
            y = F.relu6(conv_bn(i, x, f"{k}a")) if f"F{k}a" in i else x
            stride = 2 if k in strided else 1
            y = conv_bn(i, F.relu6(depthwise(i, y, f"{k}b", stride)), f"{k}c")
            x = y + x if residual and stride == 1 and x.shape == y.shape else y
        return head(i, activation(conv_bn(i, x, "")))
    return model


def mbconv(i):
    x = F.relu6(conv_bn(i, i.X, "1"))
    return conv_bn(i, F.relu6(depthwise(i, x, "2", 2)), "3")


def efficientnet_b2(i):
    x = F.relu(conv_bn(i, i.X, "0", 2, 1))
    for k in range(1, 6):
        x = F.relu(conv_bn(i, x, f"{k}a"))
        x = F.relu(depthwise(i, x, f"{k}b", 2 if k in (2, 3, 4) else 1))
        x = F.adaptive_avg_pool2d(x, 1)
        x = torch.sigmoid(F.conv2d(F.relu(F.conv2d(x, i[f"S{k}"])), i[f"T{k}"]))
        x = conv_bn(i, x, f"{k}c")
    return head(i, F.relu(conv_bn(i, x, "")))


def shuffle_unit(i, x, place):
    x = F.relu(conv_bn(i, x, place + "1", groups=3))
    x = F.channel_shuffle(depthwise(i, x, place + "2", 1), 3)
    return F.relu(conv_bn(i, x, place + "3", groups=3))


def shufflenet_unit(i):
    return shuffle_unit(i, i.X, "") + conv_bn(i, i.X, "4")


def shufflenet(i):
    x = F.max_pool2d(F.relu(conv_bn(i, i.X, "0", 2, 1)), 3, 2, 1)
    for place in [s + l for s, letters in (("2", "abc"), ("3", "abcdefg"), ("4", "abc")) for l in letters]:
        shortcut = conv_bn(i, x, place + "s") if f"F{place}s" in i else x
        x = shuffle_unit(i, x, place) + shortcut
    return head(i, F.relu(conv_bn(i, x, "")))


def regnet(i):
    x = i.X
    for k in "123":
        for place in (k + "a", k + "b"):
            x = F.relu(bn(i, F.conv2d(x, i["F" + place], i["b" + place], 1, 1), place))
        x = F.max_pool2d(x, 2)
    return head(i, x)


def unet(i):
    def double(x, place):
        for p in (place + "a", place + "b"):
            x = torch.softmax(bn(i, F.conv2d(x, i["F" + p], i["b" + p], 1, 1), p), -1)
        return x
    encoded = [double(i.X, "e1")]
    for k in "234":
        encoded.append(double(F.max_pool2d(encoded[-1], 2), "e" + k))
    x = double(F.max_pool2d(encoded[-1], 2), "m")
    for k in "4321":
        x = F.conv_transpose2d(x, i["U" + k], i["u" + k], 2)
        x = double(torch.cat((x, encoded[int(k) - 1]), 1), "d" + k)
    return F.conv2d(x, i.F, i.f)


# ---- attention ----

def attention(x, w, b, wo, bo, heads, mask=None, weigh=lambda s: torch.softmax(s, -1)):
    """x[B,T,C], queries, keys and values from one product."""
    q, k, v = (p.unflatten(-1, (heads, -1)).transpose(1, 2) for p in F.linear(x, w, b).chunk(3, -1))
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    y = (weigh(scores) @ v).transpose(1, 2).flatten(2)
    return y if wo is None else F.linear(y, wo, bo)


def encoder(i, x, l, heads):
    """A layer of nn.TransformerEncoder on x[S,B,C]."""
    a = attention(x.transpose(0, 1), i.WI[l], i.bI[l], i.WO[l], i.bO[l], heads).transpose(0, 1)
    x = F.layer_norm(x + a, x.shape[-1:], i.G1[l], i.E1[l])
    f = F.linear(F.relu(F.linear(x, i.W1[l], i.b1[l])), i.W2[l], i.b2[l])
    return F.layer_norm(x + f, x.shape[-1:], i.G2[l], i.E2[l])


def vision_transformer(i):
    patch = math.isqrt(i.WE.shape[1] // 3)
    x = i.X.unfold(2, patch, patch).unfold(3, patch, patch).reshape(len(i.X), -1, i.WE.shape[1])
    x = F.linear(x, i.WE, i.bE)
    x = torch.cat((i.Token.expand(len(x), 1, -1), x), 1) + i.Pos
    for l in range(6):
        x = encoder(i, x, l, 8)
    return F.linear(F.gelu(F.linear(x[:, 0], i.WA, i.bA)), i.WB, i.bB)


def convolutional_vision_transformer(i):
    x = F.linear(F.conv2d(i.X, i.F, i.bF, i.F.shape[-1]).flatten(1), i.WE, i.bE)
    x = torch.stack((i.Token.expand_as(x), x), 1)
    for l in range(6):
        x = encoder(i, x, l, 4)
    return F.linear(x[:, 0], i.W, i.b)


def vision_attention(i):
    x = i.X.flatten(2).mT
    x = F.layer_norm(attention(x, i.Wi, i.bi, i.Wo, i.bo, 4) + x, x.shape[-1:], i.G, i.E)
    return x.mT.reshape(i.X.shape)


def triangle(x):
    return torch.ones(x.shape[1], x.shape[1]).tril().bool()


def mingpt_attention(i, x=None):
    x = i.X if x is None else x
    return attention(x, i.W, i.b, i.P, i.p, 8, triangle(x))


def mingpt_block(i):
    x = i.X + mingpt_attention(i, F.layer_norm(i.X, i.G1.shape, i.G1, i.H1))
    y = F.gelu(F.linear(F.layer_norm(x, i.G2.shape, i.G2, i.H2), i.W1, i.b1), approximate="tanh")
    return x + F.linear(y, i.W2, i.b2)


def relu_attention(i):
    return attention(i.X, i.W, i.b, None, None, 12, triangle(i.X), F.relu)


# ---- windows ----

def windows(x, w):
    """[B,H,W,C] -> [B*windows, w*w, C]"""
    x = x.unflatten(1, (-1, w)).unflatten(3, (-1, w)).transpose(2, 3)
    return x.flatten(0, 2).flatten(1, 2)


def whole(x, w, batch, side):
    x = x.reshape(batch, side // w, side // w, w, w, -1).transpose(2, 3)
    return x.flatten(3, 4).flatten(1, 2)


def merged(x, side):
    x = x.unflatten(1, (side, side))
    return torch.cat((x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]), -1).flatten(1, 2)


def two_layers(x, w1, b1, w2, b2):
    return F.linear(F.gelu(F.linear(x, w1, b1)), w2, b2)


def swin(i, block, merge):
    side = i.X.shape[2] // 4
    w = side // 8
    x = F.conv2d(i.X, i.F, i.bF, 4).flatten(2).mT
    x = F.layer_norm(x, i.G0.shape, i.G0, i.E0)
    for stage, depth in enumerate((2, 2, 6, 2), 1):
        for l in range(depth):
            x = block(i, x, str(stage), l, side, w, w // 2 if l % 2 and side > w else 0)
        if stage < 4:
            x = merge(i, merged(x, side), str(stage))
            side //= 2
    x = F.layer_norm(x, i.G.shape, i.G, i.E).mean(1)
    return F.linear(x, i.W, i.b)


def swin_mlp_block(i, x, k, l, side, w, shift):
    batch = len(x)
    z = F.layer_norm(x, x.shape[-1:], i[f"G{k}a"][l], i[f"E{k}a"][l]).unflatten(1, (side, side))
    if shift:
        z = F.pad(z, (0, 0, w - shift, shift, w - shift, shift))
    heads = i["M" + k].shape[1]
    z2 = windows(z, w).unflatten(-1, (heads, -1))
    z2 = torch.einsum("hij,njhd->nihd", i["M" + k][l], z2) + i["m" + k][l].mT[..., None]
    z = whole(z2.flatten(2), w, batch, z.shape[1])
    if shift:
        z = z[:, w - shift:-shift, w - shift:-shift]
    x = x + z.flatten(1, 2)
    z = F.layer_norm(x, x.shape[-1:], i[f"G{k}b"][l], i[f"E{k}b"][l])
    return x + two_layers(z, i["P" + k][l], i["p" + k][l], i["Q" + k][l], i["q" + k][l])


def swin_mlp_merge(i, x, k):
    return F.linear(F.layer_norm(x, x.shape[-1:], i[f"G{k}m"], i[f"E{k}m"]), i[f"W{k}m"])


def position_bias(w, p1, b1, p2):
    steps = 8 * torch.arange(1 - w, w) / (w - 1)
    steps = torch.sign(steps) * torch.log2(steps.abs() + 1) / 3
    table = F.linear(F.relu(F.linear(torch.cartesian_prod(steps, steps), p1, b1)), p2)
    y, x = torch.meshgrid(torch.arange(w), torch.arange(w), indexing="ij")
    y, x = y.flatten(), x.flatten()
    place = (y[:, None] - y + w - 1) * (2 * w - 1) + x[:, None] - x + w - 1
    return 16 * torch.sigmoid(table[place]).permute(2, 0, 1)


def shifted_mask(side, w, shift):
    part = torch.zeros(side)
    part[-w:-shift] = 1
    part[-shift:] = 2
    region = windows((3 * part[:, None] + part)[None, ..., None], w)[..., 0]
    return torch.where(region[:, :, None] == region[:, None], 0.0, -100.0)


def swin_v2_block(i, x, k, l, side, w, shift):
    batch, channels = len(x), x.shape[-1]
    heads = i["LS" + k].shape[1]
    z = windows(torch.roll(x.unflatten(1, (side, side)), (-shift, -shift), (1, 2)), w)
    bias = torch.cat((i["bq" + k][l], torch.zeros(channels), i["bv" + k][l]))
    q, key, v = (p.unflatten(-1, (heads, -1)).transpose(1, 2)
                 for p in F.linear(z, i["Wq" + k][l], bias).chunk(3, -1))
    scale = torch.clamp(i["LS" + k][l], max=math.log(100)).exp()
    scores = F.normalize(q, dim=-1) @ F.normalize(key, dim=-1).mT * scale[:, None, None]
    scores = scores + position_bias(w, i["P1" + k][l], i["p1" + k][l], i["P2" + k][l])
    if shift:
        mask = shifted_mask(side, w, shift)
        scores = (scores.unflatten(0, (batch, -1)) + mask[:, None]).flatten(0, 1)
    z = (torch.softmax(scores, -1) @ v).transpose(1, 2).flatten(2)
    z = whole(F.linear(z, i["Wo" + k][l], i["bo" + k][l]), w, batch, side)
    z = torch.roll(z, (shift, shift), (1, 2)).flatten(1, 2)
    x = x + F.layer_norm(z, (channels,), i["G1" + k][l], i["E1" + k][l])
    z = two_layers(x, i["W1" + k][l], i["b1" + k][l], i["W2" + k][l], i["b2" + k][l])
    return x + F.layer_norm(z, (channels,), i["G2" + k][l], i["E2" + k][l])


def swin_v2_merge(i, x, k):
    x = F.linear(x, i["Wm" + k])
    return F.layer_norm(x, x.shape[-1:], i["Gm" + k], i["Em" + k])


# ---- recurrent networks ----

def recurrent(i, kind, directions, states):
    """PyTorch's own module with the task's weights: X[T,B,I] -> outputs, last states."""
    hidden = i.H0.shape[-1]
    module = kind(i.X.shape[-1], hidden, 6, bidirectional=directions == 2)
    for layer in range(6):
        for way in range(directions):
            suffix = f"l{layer}" + ("_reverse" if way else "")
            source, at = ("0", way) if layer == 0 else ("", directions * (layer - 1) + way)
            for name, letter in (("weight_ih", "W"), ("weight_hh", "U"), ("bias_ih", "b"), ("bias_hh", "d")):
                getattr(module, f"{name}_{suffix}").copy_(i[letter + source][at])
    x = i.X.transpose(0, 1) if kind is torch.nn.LSTM else i.X
    return module(x, states)


def lstm(i, directions=1):
    return recurrent(i, torch.nn.LSTM, directions, (i.H0, i.H0))


def gru(i, directions=1):
    return recurrent(i, torch.nn.GRU, directions, i.H0)


def rnn_state(i):
    return torch.tanh(F.linear(torch.cat((i.X, i.S), 1), i.Wh, i.bh))


# ---- others ----

def netvlad(i):
    z = batch_norm(i, (i.X @ i.C).flatten(0, 1), "MVAE").unflatten(0, i.X.shape[:2])
    a = torch.softmax(z, -1)[..., :i.P.shape[1]]
    v = (a.mT @ i.X).mT - a.sum(1, keepdim=True) * i.P
    return F.normalize(F.normalize(v).flatten(1))


def mamba2(i, outputs):
    """The recurrence, which the task computes in chunks."""
    state = torch.zeros(i.X.shape[0], i.X.shape[2], i.X.shape[3], i.K.shape[3])
    rows = []
    for t in range(i.X.shape[1]):
        state = torch.exp(i.A[:, t])[..., None, None] * state + i.X[:, t, :, :, None] * i.K[:, t, :, None]
        if outputs:
            rows.append((state * i.Q[:, t, :, None]).sum(-1))
    return torch.stack(rows, 1) if outputs else state


BY_NUMBER = {
    "001_mlp": lambda i: mlp(i, 3),
    "002_shallow_wide_mlp": lambda i: mlp(i, 3),
    "003_deep_narrow_mlp": lambda i: mlp(i, 9),
    "004_lenet5": lenet5,
    "005_alexnet": alexnet,
    "006_inception_module": inception_module,
    "007_googlenet": googlenet,
    "008_resnet_basic_block": basic_block,
    "009_resnet18": resnet18,
    "010_resnet101": resnet101,
    "011_vgg16": vgg,
    "012_vgg19": vgg,
    "013_densenet_transition": lambda i: F.avg_pool2d(F.conv2d(F.relu(bn(i, i.X, "")), i.F), 2),
    "014_densenet_dense_block": dense_block,
    "015_densenet121": densenet((6, 12, 24, 16)),
    "016_densenet201": densenet((6, 12, 48, 32)),
    "017_squeezenet_fire_module": lambda i: fire(i.X, i.Fs, i.bs, i.F1, i.b1, i.F3, i.b3),
    "018_squeezenet": squeezenet,
    "019_mobilenet_v1": mobilenet_v1,
    "020_mobilenet_v2": inverted(17, (2, 4, 7, 14), False, F.relu6),
    "021_efficientnet_mbconv": mbconv,
    "022_efficientnet_b0": inverted(13, (2, 4, 6, 10), True, F.relu),
    "023_efficientnet_b1": inverted(7, (2, 3, 4, 6), False, F.relu),
    "024_efficientnet_b2": efficientnet_b2,
    "025_shufflenet_unit": shufflenet_unit,
    "026_shufflenet": shufflenet,
    "027_regnet": regnet,
    "028_vision_transformer": vision_transformer,
    "029_swin_mlp": lambda i: swin(i, swin_mlp_block, swin_mlp_merge),
    "030_swin_transformer_v2": lambda i: swin(i, swin_v2_block, swin_v2_merge),
    "031_vision_attention": vision_attention,
    "032_convolutional_vision_transformer": convolutional_vision_transformer,
    "033_vanilla_rnn": lambda i: F.linear(rnn_state(i), i.Wo, i.bo),
    "034_vanilla_rnn_hidden": rnn_state,
    "035_lstm_stack": lambda i: F.linear(lstm(i)[0][-1], i.WO, i.bO),
    "036_lstm_hidden_states": lambda i: lstm(i)[1][0],
    "037_lstm_cell_states": lambda i: lstm(i)[1][1],
    "038_lstm_bidirectional": lambda i: F.linear(lstm(i, 2)[0][-1], i.WO, i.bO),
    "039_gru_stack": lambda i: gru(i)[0],
    "040_gru_hidden_states": lambda i: gru(i)[1],
    "041_gru_bidirectional": lambda i: gru(i, 2)[0],
    "042_gru_bidirectional_hidden_states": lambda i: gru(i, 2)[1],
    "043_mingpt_causal_attention": mingpt_attention,
    "044_mingpt_block": mingpt_block,
    "045_unet_softmax": unet,
    "046_netvlad_ghost_clusters": netvlad,
    "047_netvlad": netvlad,
    "048_mamba2_output": lambda i: mamba2(i, True),
    "049_mamba2_final_state": lambda i: mamba2(i, False),
    "050_relu_self_attention": relu_attention,
}
MODELS = {f"kernelbench/3/{name}": model for name, model in BY_NUMBER.items()}
