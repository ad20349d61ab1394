"""Small inputs on which real courses and real code went wrong: tests/cases.json, by their ids."""

import json
import math
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from attention_by_hand import attention, causal_mask
from notebooks import FOLDER, read, texts

CASES = {
    case["id"]: case
    for case in json.loads(Path(__file__).with_name("cases.json").read_text("utf-8"))["cases"]
}
SHARED = torch.tensor([[1.0, 0], [0, 1], [1, 1]])
SHARED_V = torch.tensor([[1.0, 0], [0, 1], [2, 2]])


def assert_is(found, expected):
    """To four decimals, as the cases are printed."""
    torch.testing.assert_close(
        torch.as_tensor(found).double(), torch.tensor(expected).double(), rtol=0, atol=1e-4
    )


def answers(name):
    """The right answer of a case, and its one wrong one."""
    case = CASES[name]
    (wrong,) = case["wrong"].values()
    return case["right"], wrong


def test_decode_one_query():
    right, wrong = answers("decode-one-query")
    query = SHARED[2:]
    assert_is(attention(query, SHARED, SHARED_V, causal_mask(1, 3)).output[0], right)
    assert_is(attention(query, SHARED, SHARED_V).output[0], right)
    top_left = F.scaled_dot_product_attention(query, SHARED, SHARED_V, is_causal=True)
    assert_is(top_left[0], wrong)


def test_decode_two_queries():
    right, wrong = answers("decode-two-queries")
    assert_is(attention(SHARED[1:], SHARED, SHARED_V, causal_mask(2, 3)).output, right)
    top_left = torch.ones(2, 3, dtype=torch.bool).tril()
    assert_is(attention(SHARED[1:], SHARED, SHARED_V, top_left).output, wrong)


def test_nothing_allowed():
    eye, allowed = torch.eye(2), torch.tensor([[True, False], [False, False]])
    with pytest.raises(ValueError, match="Query 1 may attend to nothing"):
        attention(eye, eye, eye, allowed)
    scaled = eye @ eye.T / math.sqrt(2)
    assert torch.softmax(scaled.masked_fill(~allowed, -torch.inf), dim=-1)[1].isnan().all()
    assert_is(F.scaled_dot_product_attention(eye, eye, eye, allowed)[1], [0, 0])
    assert_is(torch.softmax(scaled.masked_fill(~allowed, -1e9), dim=-1)[1], [0.5, 0.5])


def test_diagonal_masked():
    zeros = torch.zeros(3, 3)
    future = torch.ones(3, 3, dtype=torch.bool).triu(0)  # the fault: triu(1) is the future
    with pytest.raises(ValueError, match="Query 0 may attend to nothing"):
        attention(zeros, zeros, zeros, ~future)
    assert torch.softmax(zeros.masked_fill(future, -torch.inf), dim=-1)[0].isnan().all()
    assert attention(zeros, zeros, zeros, causal_mask(3)).weights[0].tolist() == [1, 0, 0]


def test_zeroing_is_not_masking():
    right, wrong = answers("zeroing-is-not-masking")
    scores = torch.tensor([[0.43, -0.21, 0.99, 0.32, -0.35, 0.04]])
    allowed = torch.tensor([[True] * 3 + [False] * 3])
    # One query of width 1 over keys that are the scores: its scores are the scores.
    result = attention(torch.ones(1, 1), scores.T, scores.T, allowed)
    assert_is(result.weights[0], right)
    assert_is(torch.softmax(scores * allowed, dim=-1)[0], wrong)


def test_finite_fill_loses():
    right, wrong = answers("finite-fill-loses")
    scores, allowed = torch.tensor([[-200000.0, 3]]), torch.tensor([[True, False]])
    assert_is(attention(torch.ones(1, 1), scores.T, scores.T, allowed).weights[0], right)
    assert_is(torch.softmax(scores.masked_fill(~allowed, -1e5), dim=-1)[0], wrong)


def test_linear_is_transposed():
    right, wrong = answers("linear-is-transposed")
    x, W = torch.tensor([1.0, 0]), torch.tensor([[1.0, 2], [3, 4]])
    layer = torch.nn.Linear(2, 2, bias=False)
    for weight, expected in ((W.T, right), (W, wrong)):
        with torch.no_grad():
            layer.weight.copy_(weight)
        assert_is(layer(x).detach(), expected)
    assert_is(x @ W, right)


def test_large_scores():
    scores = torch.tensor([[1000.0, 1001, 1002]])
    weights = attention(torch.ones(1, 1), scores.T, scores.T).weights
    assert_is(weights[0], CASES["large-scores"]["right"])
    assert (torch.exp(scores) / torch.exp(scores).sum()).isnan().all()


def test_small_weight_large_effect():
    # Scores whose softmax is [.9, .1].
    K, V = torch.tensor([[math.log(9)], [0.0]]), torch.tensor([[1.0, 0], [0, 100]])
    result = attention(torch.ones(1, 1), K, V)
    assert_is(result.weights[0], [0.9, 0.1])
    assert_is(result.output[0], CASES["small-weight-large-effect"]["right"])
    share = result.weights[0, :, None] * V
    assert share[1].sum() > 10 * share[0].sum()


def test_too_long():
    X = torch.ones(6, 2)
    with pytest.raises(ValueError, match=r"shape \(4, 4\), but the scores have shape \(6, 6\)"):
        attention(X, X, X, causal_mask(4))


def stored(lesson):
    """What a lesson prints, as stored and without spaces; nbval holds it to what is computed."""
    (path,) = FOLDER.glob(f"{lesson}_*.ipynb")
    cells = [cell for _, cell in read(path).of_type("code")]
    return "".join("".join(texts(o)) for cell in cells for o in cell.outputs).replace(" ", "")


def test_merge_heads():
    for answer in answers("merge-heads"):
        rows = ",\n".join(str(row).replace(" ", "") for row in answer)
        assert f"tensor([[{rows}]])" in stored("bank/05")


def test_averaged_heads():
    printed = stored("bank/05")
    assert "tensor([[0.5000,0.5000],\n[0.5000,0.5000]])" in printed  # what the module returns
    for head, weights in {"head0": "1.00000.0000", "head1": "0.00001.0000"}.items():
        assert f"{head},token0{weights}\n{head},token1{weights[6:]}{weights[:6]}" in printed


# Where the other cases are held.
ELSEWHERE = {
    "test_notebooks.py": {
        "never-executed-cell",
        "junk-picture",
        "saved-from-colab",
    },
    "bank/06, which prints them, and test_exercises.py": {
        "rope-two-conventions",
        "odd-width",
    },
    "colab/test_alone.py": {
        "alone-in-a-folder",
    },
}


def test_every_case_has_its_test_here_or_is_listed():
    here = {name for name in CASES if f"test_{name.replace('-', '_')}" in globals()}
    listed = set().union(*ELSEWHERE.values())
    assert here.isdisjoint(listed)
    assert here | listed == CASES.keys()
