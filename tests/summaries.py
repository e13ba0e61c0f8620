"""The summaries of all heads of a trace."""

from attention.measures.summaries import summarise_weights


def summarise(trace):
    return [
        summary
        for number, layer in enumerate(trace.layers)
        for summary in summarise_weights(layer.steps().weights, trace.tokens, layer.mask, number)
    ]
