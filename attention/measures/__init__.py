r"""What a head does, in numbers: how broadly it looks, how far, at what, and like which other head.

Everything here follows from weights that ``attention.steps`` derived, for many texts at once or for one: the axes of
heads, texts and layers stand in front, as many as there are, and one text is a batch of one. Axis letters as there:
``L`` layers, ``B`` texts, ``H`` heads, ``Q`` query positions, ``K`` key positions, ``T`` tokens, ``W`` words, ``N``
heads of all layers; ``*H`` stands for any axes in front, or none, and ``*1`` for the same ones, each of which may be
1 where what follows does not differ along it.

An average over rows counts the rows that look at anything (masked rows are 0 throughout) and that are not
padding. Special tokens' rows count, as they do in Clark et al. 2019, "What Does BERT Look At?". Where the weights
are of float32, so are the sums within a row or a column, and float64 is all that follows from these.
"""
