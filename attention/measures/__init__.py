r"""What a head does, in numbers: how broadly it attends, how far, to what, and how much like another head.

Everything here follows from the weights that ``attention.core.steps`` derives, for one text or for many at once: the
axes of layers, texts and heads come first, as many as there are, and a single text is a batch of one. Axis letters:
``L`` layers, ``B`` texts, ``H`` heads, ``Q`` query positions, ``K`` key positions, ``T`` tokens, ``W`` words, ``N``
heads of all layers; ``*H`` stands for any leading axes, or none, and ``*1`` for the same axes, each of which may have
length 1 if the array does not vary along it.

An average over rows includes the rows of all tokens, special ones too (as in Clark et al. 2019, "What Does BERT Look
At?"), but not the rows of padding, nor rows that are masked throughout and therefore 0. If the weights are float32,
so are the sums within a row or a column; everything computed from these is float64.
"""
