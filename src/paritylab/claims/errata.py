"""What would have to change in the papers, line by line; the numbers come from the claims' rows."""

from typing import NamedTuple


class Erratum(NamedTuple):
    """paper, place: where. change: what would have to change there. claims: which show it.

    is_note: the statement stands as printed; a line beside it may be put more exactly.
    """

    paper: str
    place: str
    change: str
    claims: tuple[str, ...]
    is_note: bool = False


ERRATA = (
    Erratum(
        "hg1",
        "Theorem 5",
        "Convergence from random angles survives for k = 1, for k = 2 with soft attention (tau = "
        "1) and a smooth readout (b about 0.1), down to the risk that b leaves, and for starts "
        "near B. For k = 3 less than all runs converge in every setting tried, and near B the rate "
        "is 1/t instead of c^t: half the squared gradient tends to a multiple of the squared "
        "excess risk.",
        ("hg1-thm5", "hg1-lemma8-pl"),
    ),
    Erratum(
        "hg1",
        "Lemma 8",
        "No μ > 0 serves every setting of the heads: there are settings with positive risk and a "
        "gradient of zero, and on B half the squared gradient is a multiple of the square of the "
        "excess risk, which gives a rate of order 1/t in place of c^t.",
        ("hg1-lemma8-pl",),
    ),
    Erratum(
        "hg1",
        "Theorem 5, limitations, and Appendix A",
        "For softmax to approximate hardmax the temperature has to be of order 1/n²: positions on "
        "the circle are 1/n apart and their scores differ by the square of it.",
        ("hg1-temperature",),
    ),
    Erratum(
        "hg1",
        "Proposition 3 and Theorem 5, activation with b > 0",
        "Risk 0 needs b = 0. For b > 0 hard heads on B leave a risk of order b², and no k heads "
        "reach 0.",
        ("hg1-floor",),
    ),
    Erratum(
        "hg1",
        "Theorem 5, “the loss at initialisation is 1”",
        "The mean risk at the start is larger than 1 at the sizes and temperatures tried.",
        ("hg1-start-risk",),
    ),
    Erratum(
        "hg1",
        "Theorem 5, proof: two numbers per head",
        "Besides a₁₃ and a₁₄ the difference a₁₁ - a₁₂ receives a gradient. Either the mask on all "
        "other entries becomes an assumption, or a head has three trained numbers.",
        ("hg1-mask",),
    ),
    Erratum(
        "hg1",
        "Proposition 21",
        "“|i - j| > 1” should be read on the circle, where 0 and n - 1 are neighbours too.",
        ("hg1-prop21",),
    ),
    Erratum(
        "hg1",
        "Theorem 11",
        "With arbitrary embeddings the weights alone bound nothing: larger tokens and smaller "
        "hidden weights are the same function. With the diameter ρ of the embeddings more is true "
        "than printed: the risk is at least (1 - ρ‖α‖‖β‖/n)₊² for every number of heads, so only "
        "the weights help. For the embeddings (3), ρ = √6, it implies the printed bound, read with "
        "a positive part. In the proof |∂ŷ/∂γ_j| is at most ‖α‖‖β‖‖w_j‖/m.",
        ("hg1-thm11",),
    ),
    Erratum(
        "hg1",
        "Remark 12",
        "“Unless m²‖α‖‖β‖ = O(n)” should read “unless ρ‖α‖‖β‖ = Ω(n)”, ρ the diameter of the "
        "embeddings, whatever m. The limit 1 stands for ρ‖α‖‖β‖ = o(n), although the first factor "
        "of Theorem 11 does not tend to 1 when heads are many.",
        ("hg1-remark12",),
    ),
    Erratum(
        "hg1",
        "Section 3, other marginals and noisy labels",
        "Risk 0 in Proposition 3 holds for every marginal but not under noise, where 4ν(1-ν) is "
        "the least risk of any function and the net, unscaled, has 4ν. Without an edge to a bit "
        "the least risk is 4p(1-p), and 0 if other bits determine it; Ω(n) needs bits that the "
        "others do not determine.",
        ("hg1-marginals",),
    ),
    Erratum(
        "hg1",
        "Proposition 3, transformer",
        "Risk zero is reached by hard attention with b = 0. Under softmax the risk is only close "
        "to zero, and for that tau has to be of order 1/n² rather than 1/n.",
        ("hg1-prop3-transformer",),
    ),
    Erratum(
        "hg1",
        "Section 2.1 and Proposition 4",
        "That fixed features need exponentially many terms or weights is right for k of order n; "
        "for fixed k, C(n, k) products are enough.",
        ("hg1-ffnn-edge",),
    ),
    Erratum(
        "hg1",
        "Theorem 5, proof: μ and the stopping time; Definition 2",
        "The step η and L(t+1) ≤ L(t) - (η/2)‖∇L‖² stand, for k = 1 if b is bounded. The "
        "second inequality, a fall of ημL at least, does not follow: for k = 3 runs come to rest "
        "at risk above 1, so no stopping time serves every B from random angles. In the sizes "
        "tried a common time serves k = 1, and k = 2 at n = 8, with soft attention (tau = 1) and a "
        "smooth readout (b about 0.1), down to the risk that b leaves.",
        ("hg1-constants",),
    ),
    Erratum(
        "hg1",
        "Lemma 14, proof",
        "The sum over j ≠ p in ∂γ_p/∂a₁₃ carries a minus sign, and σ″(z) = b/(2(z²+b)^{3/2}). The "
        "bounds drawn from them, and the lemma, stand.",
        ("hg1-lemma14-sign", "hg1-lemma6-smooth"),
    ),
    Erratum(
        "hg1",
        "Lemmas 7 and 16",
        "|ŷ| ≤ 4k³ needs a bound on the smoothing, such as b ≤ 4k⁴, which every setting of use "
        "keeps; or 4k³ + 2k√b in its place serves every b. Lemmas 6, 14 and 15 stand for every b.",
        ("hg1-lemma6-smooth",),
    ),
    Erratum(
        "hg1",
        "Appendix A, before Lemma 17",
        "At tau = c₁/n positions beside the peak have nearly its attention, √(2π/τ)/n, which "
        "exceeds c₁τ by a factor of order √n, and those at π/4 have exponentially little, so no "
        "constant c₂ serves.",
        ("hg1-attention-bounds",),
    ),
    Erratum(
        "hg1",
        "Lemma 17",
        "Inner products of gradients of two inputs are nonnegative on average over pairs, not for "
        "every pair, so the proof of Lemma 8 cannot leave them out.",
        ("hg1-lemma17",),
    ),
    Erratum(
        "hg1",
        "Lemma 18, inequality (7)",
        "An input whose ones are far from every head has s > 0 and moves no head by the stated "
        "amount; the sum is a covariance of bit and position, which has no lower bound.",
        ("hg1-lemma18",),
    ),
    Erratum(
        "hg1",
        "Lemma 19",
        "s = 0 occurs for all zeros only, where the lemma is 0 ≥ 0 at b = 0 and fails for odd k at "
        "b > 0; for inputs with s close to 0 the stated bound does not hold.",
        ("hg1-lemma19",),
    ),
    Erratum(
        "hg1",
        "Remark 9",
        "The comparison is of trained numbers on one side and of edges on the other. The heads "
        "are themselves a feed-forward net whose edges share few numbers; Ω(n) bounds edges with "
        "a number of their own.",
        ("hg1-remark9",),
    ),
    Erratum(
        "hg1",
        "Remark 10",
        "“Any k” holds for what k heads express. For what training finds it holds at k = 1 and 2 "
        "in the best setting tried and not at k = 4; whether k is odd or even is not the reason.",
        ("hg1-remark10",),
    ),
    Erratum(
        "hg1",
        "Appendix B.1, neighbouring bits",
        "At the size of the experiment the text is right nearly always. In general sharing the "
        "middle direction does not exclude hard attention: it is right just if the two heads lie "
        "on opposite sides of the middle, which depends on n, B and the temperature.",
        ("hg1-adjacency",),
    ),
    Erratum(
        "hg1",
        "Figure 2",
        "Both panels appear as drawn, each from a share of the random starts (Adam as in the "
        "public code); the caption could say how large it was.",
        ("hg1-fig2",),
    ),
    Erratum(
        "hg1",
        "Figure 1, caption",
        "The embedding is written position before token; with w_0, A and the network of (2) and "
        "(3) it has to be token before position, as in the text.",
        ("hg1-fig1",),
    ),
    Erratum(
        "hg1",
        "Lemmas 8, 14, 17, 18 and 19 and Theorem 11, displayed lines",
        "Lemma 8: (E ∂ℓ)² for E[(∂ℓ)²]. Lemmas 14, 17 and 18: minus before the sum over j ≠ p; "
        "Lemma 14 also: 1/k for 1/k² in (11), where 5/(τ²k²) is exceeded from k = 32 on, and ‖H‖ "
        "for ‖H‖². Lemma 18: a plus between the two squares. Lemma 17: k·v* for v* in ŷ. Lemma 19: "
        "ŷ = 1 at s = 0 and (-1)^k at s = k, where v* = 1, and losses of 8 in sum where ŷy = -1.",
        ("hg1-misprints",),
    ),
    Erratum(
        "hg1",
        "Proposition 3",
        "The count of numbers is of distinct values; edge by edge, as Proposition 4 counts, the "
        "same net has more. Saying which is meant would make the two comparable.",
        ("hg1-prop3-ffnn",),
        is_note=True,
    ),
    Erratum(
        "hg1",
        "Proposition 4, proof",
        "“Risk equals 1” should read “risk is at least 1”; the proposition itself stands.",
        ("hg1-prop4",),
        is_note=True,
    ),
    Erratum(
        "hg1",
        "Theorem 11, count of inputs",
        "The first factor stands. In its proof the sum should start at i = 0, and the last "
        "rounding, 4⌈n/5m⌉ against ⌈(n-1)/m⌉, does not give it for most n and m; the exact "
        "binomial sum does.",
        ("hg1-thm11-factor",),
        is_note=True,
    ),
    Erratum(
        "hg1",
        "Corollary 20 and Remark 13",
        "The printed bound asks for m of order n/log n; Remark 13's O(n) is meant as at least of "
        "order n. That is true by another count: the risk is at least 1 - 2m/n for some B of every "
        "size.",
        ("hg1-cor20",),
        is_note=True,
    ),
    Erratum(
        "ks",
        "Theorem 1",
        "With |P| ≤ 2^d targets, the oracle's error and the share of targets it leaves open can "
        "fall together like 2^(-d/3), not like e^(-d/3). What survives: an oracle of error ε hides "
        "all but a share 4F²T/(|P|ε²), and the zero-one clause for answers that are parities.",
        ("ks-thm1",),
    ),
    Erratum(
        "ks",
        "Proposition 3",
        "For the printed loss and |h| ≤ 1 the constant is 4: 4F²/|H|. With half the loss, as in "
        "Theorem 2, it stands as printed.",
        ("ks-prop3-variance",),
    ),
    Erratum(
        "ks",
        "Theorem 7 and Appendix C",
        "A silenced token is 0, exactly 1 away from -1, so from k = 8 on the filter silences all "
        "levels above an untrained one only for 1 < ε₀ < 2; O(d^(-1/2)) < ε₀ is not enough. With "
        "1 < ε₀ < 2 the theorem stands: the states on level t + 2, whose printed mean leaves out "
        "the tokens of level t + 1 (all about -1), do not matter once they are silenced. Weights "
        "(11) are reached once the irrelevant ones, which lie below 0, round to 0; at smaller "
        "sizes many end at -1, which does no harm.",
        ("ks-thm7",),
    ),
    Erratum(
        "ks",
        "Experiments",
        "The plain chain solves k = 8 on some targets, not on most, and how often a model succeeds "
        "depends on the target; rates over targets would say so. The other curves are typical.",
        ("ks-experiments",),
    ),
    Erratum(
        "ks",
        "Appendix B, equations (7) to (10), and weights (11) of Appendix C",
        "For every ε the rest is O(d^(-2-ε/8) + d^(-3)): off the children the expected gradient is "
        "4c/(m-1)³ whatever the number of samples, so O(d^(-2-ε/8)) alone needs ε ≤ 8, the lines "
        "with d^(-2-ε/4) need ε ≤ 4, and zeros in (11) need ε < 16. Theorems 5 and 7 do not "
        "suffer: that part has one sign and takes attention from irrelevant tokens.",
        ("ks-gradient-law", "ks-weights"),
    ),
    Erratum(
        "ks",
        "Theorem 2 and Lemma 8, k = Θ(d)",
        "Besides k = Θ(d) they need d - k = Θ(d): at k = d there is one target, which is its own "
        "mean. For all other k in that range they stand.",
        ("ks-thm2", "ks-lemma8"),
    ),
    Erratum(
        "ks",
        "Lemma 9, use in the proof of Theorem 5",
        "The proof also uses the index m, for which the same bound holds.",
        ("ks-lemma9",),
        is_note=True,
    ),
    Erratum(
        "ks",
        "Theorem 2 and its proof",
        "The two cases of the oracle are exchanged: it has to answer with the mean where the "
        "deviation is at most ε. Gershgorin on the n×n matrix E_p p(x^i)p(x^j) instead of the "
        "|P|×|P| one replaces √(4d/n) by 1/n, so ν = 2ν₁ + 2ν₂ + ν₃ + ν₄ suffices and the "
        "separation of Section 3.2 starts at d^(5+ε/2) samples instead of d^(11+ε).",
        ("lab-separation",),
        is_note=True,
    ),
    Erratum(
        "ks",
        "Section 2.2, chain of thought",
        "The fixed point of the first mask is TF^(k-1), not TF^(v): a node may stand on the one "
        "before it, and log2 k rounds suffice with the mask of Section 3.3 only.",
        ("ks-level-mask",),
        is_note=True,
    ),
    Erratum(
        "ks",
        "Theorem 5, “sufficiently large” d",
        "η = Θ(d^(2+ε/16)) has to lift the children above ln d, and d^(ε/16) outgrows the "
        "logarithm late; a large enough factor in Θ does it at every size.",
        ("ks-thm5-rate",),
        is_note=True,
    ),
    Erratum(
        "ks",
        "Section 3.2 and bound (5)",
        "With the constants of the proofs bound (5) says something only from a number of samples "
        "that, up to about a hundred bits, exceeds the number of inputs; the separation is one for "
        "larger d. “Querying an approximate oracle” means some such oracle, as footnote 2 says of "
        "Theorem 1.",
        ("ks-gap", "ks-thm1-footnote"),
        is_note=True,
    ),
    Erratum(
        "ks",
        "Section 3.3, after Lemma 6",
        "A slope close to 2 makes the curvature c = s²/(2(s-2)) large and the quadratic piece "
        "short, so the leading term 2c/(m-1)² asks for larger d.",
        ("ks-link",),
        is_note=True,
    ),
    Erratum(
        "ks",
        "Section 3.3, quantisation",
        "The equivalence needs halves to be rounded up (or not to occur): rounded to even, an "
        "update that ends on a half may differ.",
        ("ks-quantised",),
        is_note=True,
    ),
    Erratum(
        "ks",
        "Appendix B, sums in (7)",
        "The first sum of ⟨x_m, x_α, x_β⟩ runs over α and β, and ⟨x_m, x_α, x_j⟩ can be trivial "
        "(not nontrivial) only if j is a child.",
        ("ks-trivial-tuples",),
        is_note=True,
    ),
    Erratum(
        "ks",
        "Appendix C, C_ℓ and trained weights",
        "C_ℓ = 2cη₀d²/d_(ℓ-1)², without the factor d^(ε/16) that (11) has already; and the states "
        "of trained nodes are close to 0 as well as to ±1, where φ' vanishes too.",
        ("ks-weights",),
    ),
    Erratum(
        "ks",
        "Lemma 6, last line",
        "κ² should read κ⁴; the lemma's order stands.",
        ("ks-lemma6",),
        is_note=True,
    ),
    Erratum(
        "ks",
        "Lemma 10, middle line",
        "The d inputs contribute √(2d·ln(2n'/p)); the last line stands.",
        ("ks-lemma10",),
        is_note=True,
    ),
)
