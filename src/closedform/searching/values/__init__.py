"""What a network's values propose, where its gradients are rough.

In come a field with its latent, and a space; out go formulas for the front. Where z = phi(g) and g
is a sum, some smooth function of z is that sum. Begin with value_sums.py: sums of library terms;
then curve_sums.py: sums of curves that no library holds, and curves.py: how these are read.
"""
