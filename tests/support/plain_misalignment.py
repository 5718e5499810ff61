"""The misalignment of gradients, as it is defined."""

from closedform.field.alignment.misalignment import point_misalignment, weighted_mean


def misalignment(gradients, frames, tangent=None, weights=None):
    return weighted_mean(point_misalignment(gradients, frames, tangent), weights)
