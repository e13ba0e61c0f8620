r"""Measures of heads: breadth, distance and targets of attention, and the similarity of two heads.

All follow from the weights that ``attention.core.steps`` derives, for one text or for a batch. Axes: ``L`` layers,
``B`` texts, ``H`` heads, ``Q`` query positions, ``K`` key positions, ``T`` tokens, ``W`` words, ``N`` heads of all
layers; ``*H`` are any leading axes, ``*1`` the same axes, possibly of length 1.

Averages over rows include special tokens (as in Clark et al. 2019, "What Does BERT Look At?"), but neither padding nor
fully masked rows. With float32 weights, sums within a row or column are float32; everything else is float64.
"""
