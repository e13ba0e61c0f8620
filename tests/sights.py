"""How different two colours look, with normal colour vision and with each kind of dichromacy."""

import numpy as np

# What dichromats see (Machado, Oliveira and Fernandes 2009, severity 1), in linear RGB.
SIGHTS = {
    "all cones": np.eye(3),
    "no long": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no middle": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
}
CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
OKLAB = [
    [0.2104542553, 0.793617785, -0.0040720468],
    [1.9779984951, -2.428592205, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.808675766],
]


def linear(colour):
    rgb = np.array([int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def apart(one, other, sight):
    """The distance of two colours in OKLab (Ottosson 2020), in which equal steps look equal."""
    seen = np.array([linear(one), linear(other)]) @ np.transpose(SIGHTS[sight])
    lab = np.cbrt(np.clip(seen, 0, 1) @ np.transpose(CONES)) @ np.transpose(OKLAB)
    return float(np.linalg.norm(lab[0] - lab[1]))
