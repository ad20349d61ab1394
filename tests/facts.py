"""Sentences of the lessons with their whole numbers computed: a small number is near to another.

A number stands between << and >> as an expression in the names of the lesson. It is evaluated
after the code cell before the text, after the one behind it, and at the end; one of the three
must be what the text says. A constant is a definition (weights sum to 1, places count from 0) or
a setting that the reader is asked to make. A fact whose words no longer occur fails, too.
"""

EVERYWHERE = (
    "sum to <<1>>",
    "sums to <<1>>",
    "counted from <<0>>",
    "divides <<0>> by <<0>>",
    "<<0>> divided by <<0>>",
    "score of <<0>> is not",
    "`dim=-<<1>>` says: along the last axis",
    "transpose(-<<2>>, -<<1>>)",
    "GPT-<<2>>",
    "Llama-<<2>>-7B",
    "Llama-<<3>>-8B",
    "with $-<<10>>^{<<5>>}$",
    "as $-<<10>>^{<<5>>}$",
    "numbers are $+<<1>>$ or $-<<1>>$",
    "numbers are all $+<<1>>$ or $-<<1>>$",
)

FACTS = {
    "00_start_here": (
        "the vectors $[<<pair[0, 0]>>, <<pair[0, 1]>>]$ and $[<<pair[1, 0]>>, <<pair[1, 1]>>]$",
        "*d<<0>>* to *d<<light.X.shape[1] - 1>>*",
        "With the weights <<half[0]>> and <<half[1]>>",
        "For example, $[<<u[0]>>, <<u[1]>>]$ and $[<<v[0]>>, <<v[1]>>]$ give",
        "$(<<1>>, T)$ for all queries",
    ),
    "bank/01_one_row_two_meanings": (
        "*bank* is $[<<table[2, 0]>>, <<table[2, 1]>>]$",
        "for *bank*, $[<<table[2, 0]>>, <<table[2, 1]>>]$",
        "Row <<vocabulary.index('river')>> belongs to *river*",
        "row <<vocabulary.index('money')>> to *money*",
        "row <<vocabulary.index('bank')>> to *bank*",
        "width of a row; here it is <<table.shape[1]>>",
        "*bank*, which is token <<river.tokens.index('bank')>> in each",
        "`my_picker(ids, <<len(table)>>) @ table`",
        "has its only <<torch.eye(3).max()>> in the column",
        "True is <<True>>",
        "The row $[<<went_in[0, 0]>>, <<went_in[0, 1]>>]$ went in twice",
        "The first row is $[<<reversed_X[0, 0]>>, <<reversed_X[0, 1]>>]$, unchanged",
        "exchange token <<tokens.index('river')>>, *river*",
        "Who may see token <<tokens.index('river')>>?",
        "set its *d<<1>>* to <<moved[1, 1]>>",
        "With the mask *river* keeps its $[<<X_river[0, 0]>>, <<X_river[0, 1]>>]$",
        "with <<7>> billion learned numbers",
        "`float32` takes <<torch.float32.itemsize>> bytes, in `float16` it takes "
        "<<dtype.itemsize>>",
        "times <<torch.float16.itemsize>> bytes",
        "$B = <<len(batch)>>$ phrases of $T = <<batch.shape[1]>>$ tokens",
        "rows, $[<<1>>, <<1>>]$ and $[<<table[[0, 0, 0, 1], 0].mean()>>, "
        "<<table[[0, 0, 0, 1], 1].mean()>>]",
        "*bank* gets the row $[<<table[2, 0]>>, <<table[2, 1]>>]$ in both",
    ),
    "bank/02_queries_keys_scores": (
        "own row, $[<<Q[1, 0]>>, <<Q[1, 1]>>]$, and the key of *river* is its own row, "
        "$[<<K[0, 0]>>, <<K[0, 1]>>]$",
        "$$<<Q[1, 0]>> \\cdot <<K[0, 0]>> + <<Q[1, 1]>> \\cdot <<K[0, 1]>> = 2 \\qquad "
        "<<Q[1, 0]>> \\cdot <<K[1, 0]>> + <<Q[1, 1]>> \\cdot <<K[1, 1]>> = ",
        "*money* is $[<<X_money[0, 0]>>, <<X_money[0, 1]>>]$",
        "key *river* <<scores[1, 0]>>, with key *bank* <<scores[1, 1]>>",
        "are both <<len(tokens)>>",
        "becomes $[<<K_money[0, 0]>>, <<K_money[0, 1]>>]$",
        "*bank* is $[1, 0]$, so its key becomes $[<<K_money[1, 0]>>, <<K_money[1, 1]>>]$",
        "*bank* and *money* the score is <<(X_money @ X_money.T)[1, 0]>>",
        "key *money* gives <<(X_money @ K_money.T)[1, 0]>>",
        "key *bank* gives <<(X_money @ K_money.T)[0, 1]>>",
        "Here $d_k = <<K.shape[-1]>>$",
        "$K$: $+<<1>>$ or $-<<1>>$. For $d_k = <<2>>$",
        "each $+<<1>>$ or $-<<1>>$ equally often: $<<2>>$, $<<0>>$, $<<0>>$ or $-<<2>>$",
        "whose average is <<0>>",
        "adds <<round(float(variance / d_k))>> to the variance",
        "from $d_k = <<min(widths)>>$ to $d_k = <<max(widths)>>$",
        "the scores <<1>> and <<0>>, the first weight",
        "A gap of <<1>> gives <<math.exp(1)>> times, <<2>> gives <<math.exp(2)>>, <<8>> gives",
        "$w (<<1>> - w)",
        "At a gap of <<8>> it is <<gradients[gaps == 8]>>",
        "Is <<8>> wide",
        "typical size becomes <<1>>",
        "with $d_k = <<d_k>>$:",
        "are all <<len(tokens)>>",
        "have the scores <<pattern[0]>>, <<pattern[1]>> and <<pattern[2]>>,",
        "at a width of <<4>>",
        "From <<16>> on",
        "keys with $d_k = <<tossed.shape[-1]>>$",
        "it leaves <<let_through / 32>>",
        "numbers of variance <<1>>",
        "keys of width <<4>> have the scores <<6>> and <<0>>",
        "key *river* is <<scores[1, 0]>>, and query *bank*, key *bank* is <<scores[1, 1]>>",
    ),
    "bank/03_mask_and_softmax": (
        "gives $[<<weights[0, 0]>>, <<weights[0, 1]>>]$ for *river*",
        "*money* had <<weigh(three.X, four[:3, :3])[2, 1]>> and",
        "get the weight <<weights[0, 1]>>",
        "that is $\\sqrt{<<K.shape[-1]>>}$ and $<<1>> / \\sqrt{<<K.shape[-1]>>}$",
        "{e^{2.8284} + <<0>>}",
        "right cell is <<weights[0, 1]>>",
        "at position <<1>>, the second token, has the scaled scores 0.5, <<1>> and <<2>>",
        "second token. Its weight is <<0>>",
        "So the weight is <<0>>, and <<0>> times the row is <<0>>",
        "multiplies the scores by <<0>>",
        "hidden score is <<0>> before",
        "weights are not <<0>>",
        "Setting weights to <<0>>",
        "already become <<0>>",
        "second score, <<low[1]>>, must",
        "must be $[<<1>>, <<0>>]$",
        "query <<1>> may see nothing",
        "the row sums to <<0>>",
        "for two phrases of <<lengths[0]>> and <<lengths[1]>> real words; the axis of size <<1>>",
        "Rows <<0>> and <<1>> are",
        "two texts of <<lengths[0]>> and <<lengths[1]>> real words",
        "keys $<<0>>$ to $i$",
    ),
    "bank/04_values_and_context": (
        "product of $[<<money.X[1, 0]>>, <<money.X[1, 1]>>]$ and $[<<money.X[0, 0]>>, "
        "<<money.X[0, 1]>>]$",
        "values: $[<<V[0, 0]>>, <<V[0, 1]>>]$ of *river* and $[<<V[1, 0]>>, <<V[1, 1]>>]$ of "
        "*bank*",
        "column of $V$ is <<V[0, 0]>>, <<V[1, 0]>>, the second is <<V[0, 1]>>, <<V[1, 1]>>",
        "`output[<<1>>]` in the code",
        "*river* has the output $[<<output[0, 0]>>, <<output[0, 1]>>]$",
        "value of *money* is $[<<money.X[0, 0]>>, <<money.X[0, 1]>>]$",
        "<<output[1, 0]>> between <<V[1, 0]>> and <<V[0, 0]>>, and the second between "
        "<<V[0, 1]>> and <<V[1, 1]>>",
        "*bank* scores <<result.scores[1, 1]>>, as before. Divided by $\\sqrt{<<2>>}$",
        "of $[<<money.X[0, 0]>>, <<money.X[0, 1]>>]$ and <<result.weights[1, 1]>> of "
        "$[<<money.X[1, 0]>>, <<money.X[1, 1]>>]$",
        "gives <<2 * 0.3302>> for",
        "takes <<weights[1, 0]>> of *river* but",
        "dot product is <<result.scores[1, 0]>>.",
        "A score of <<0>> still buys",
        "*money d<<0>>* to <<phrase[0, 0]>>, so that *money* is $[<<2>>, <<2>>]$",
        "*money d<<1>>* to <<phrase[0, 1]>>",
        "meets the <<phrase[1, 0]>> in",
        "of *money* is now <<moved.weights[1, 0]>>",
        "meets the <<phrase[1, 1]>> of",
        "from 1.3395 to <<moved.output[1, 1]>>",
        "$M$ is <<M[0, 0]>> where",
        "$[<<output[1, 0]>>, <<output[1, 1]>>]$ is the output",
        "which is $[<<output[1, 0]>>, <<output[1, 1]>>]$",
        "largest value, <<V.max()>>,",
        "$o_{bank} = <<weights[1, 0]>> \\, v_{river}",
        "| river bank | <<went_in[0, 0]>> | <<went_in[0, 1]>> | <<output[1, 0]>> | "
        "<<output[1, 1]>> |",
        "| money bank | <<went_in[1, 0]>> | <<went_in[1, 1]>> | ",
    ),
    "bank/05_projections_shapes_and_heads": (
        "is its row $[<<river.X[0, 0]>>, <<river.X[0, 1]>>]$ times",
        "queries do: *money* is $[<<X[1, 0]>>, <<X[1, 1]>>]$, and still it asks with "
        "<<Q[1, 0]>> in head <<0>>. Keys",
        "$H = <<len(heads)>>$ heads",
        "heads, head <<0>> gets the first column",
        "head <<1>> the second",
        "d_{model} / H$ wide, here <<X.shape[1] // 2>>.",
        "asks with a <<Q[2, 0]>> in both heads, although its row is $[<<X[2, 0]>>, <<X[2, 1]>>]$",
        "scores of *bank* in head <<0>> are <<heads[0].scores[2, 0]>>, "
        "<<heads[0].scores[2, 1]>>, <<heads[0].scores[2, 2]>>. In head <<1>> they are "
        "<<heads[1].scores[2, 0]>>, <<heads[1].scores[2, 1]>>, <<heads[1].scores[2, 2]>>.",
        "as they are. Head <<0>>, then head <<1>>:",
        "in head <<max(range(2), key=lambda h: heads[h].weights[2, 0])>>, and at *money* in "
        "head <<max(range(2), key=lambda h: heads[h].weights[2, 1])>>",
        "add up to <<V.sum(dim=1)[0]>>, <<V.sum(dim=1)[1]>> and <<V.sum(dim=1)[2]>>, so those "
        "of any mix add up to <<V.sum(dim=1).max()>> at most",
        "one head of width <<Q.shape[-1]>> makes",
        "*head <<1>>* under",
        "to *head <<0>>*. Its keys are *d<<0>>* alone. **Predict**: do its weights change when "
        "you set *bank d<<1>>* to <<moved[2, 1]>>?",
        "reads *d<<1>>* as well, so the query of *bank* has grown from <<Q[2, 0]>> to "
        "<<(moved @ W_Q)[2, 0]>>. Its scores are <<result.scores[2, 0]>>, "
        "<<result.scores[2, 1]>>, <<result.scores[2, 2]>>,",
        "$d_{model} = <<len(q)>>$ and $H = <<3>>$",
        "does head <<1>> give",
        "and head <<1>> is the second",
        "cosines of <<0>>, <<1>>, <<2>>, …",
        "$d_{head} = <<d_head>>$",
        "phrase from <<numbered.min()>> on, so that token <<0>> holds <<numbered[0, 0, 0]>> to "
        "<<numbered[0, 0, 7]>>. Head <<0>> both",
        "pieces of token <<0>>",
        "$(B, T, <<3>> \\cdot d_{model})$",
        "$(<<3>>, B, H, T, d_{head})$",
        "`(<<T>>, <<T>>)` serves",
        "Token <<0>> has $[<<eight[0, 0, 0, 0]>>, <<eight[0, 0, 0, 1]>>]$ in head <<0>> and "
        "$[<<eight[0, 1, 0, 0]>>, <<eight[0, 1, 0, 1]>>]$ in head <<1>>",
        "**Predict** the row of token <<1>>",
        "the row of token <<0>> gets numbers of token "
        "<<(eight[0, 0] == eight.reshape(2, 4)[0, 2]).nonzero()[0, 0]>>",
        "fall, to <<losses['right merge'][-1]>> with the right merge and to "
        "<<losses['no transpose'][-1]>> without",
        "hides it from position <<1>>. Here is what position <<1>> says",
        "of shape `(<<B>>, <<H>>, <<T>>, <<T>>)`",
        "$[<<pair[0, 0, 0]>>, <<pair[0, 0, 1]>>]$ and $[<<pair[0, 1, 0]>>, <<pair[0, 1, 1]>>]$",
        "In head <<0>> each token scores itself with $3 \\cdot 3 = 9$ and the other with "
        "$<<pair[0, 0, 0] * pair[0, 1, 0]>>$; in head <<1>> it is",
        "position <<1>> gives $[1.9438, -0.1558]$, close to *river*, $[<<following[0, 1, 0]>>, "
        "<<following[0, 1, 1]>>]$",
        "<<averaged[0, 0, 0]>> everywhere",
        "Head <<apart[0, :, 0, 0].argmax()>> looks at the token itself, head "
        "<<apart[0, :, 0, 1].argmax()>> at",
        "weights, from <<T * T>> to <<n * T * T>>:",
    ),
    "bank/06_word_order": (
        "has the scores <<(X_dog @ X_dog.T)[1, 0]>>, <<(X_dog @ X_dog.T)[1, 1]>> and "
        "<<(X_dog @ X_dog.T)[1, 2]>>, and divided by",
        "*bites* has <<(X_dog + table)[1, 3]>> in the last column",
        "$$<<dog_result.weights[1, 0]>> \\cdot <<table[0, 3]>> + <<dog_result.weights[1, 2]>> "
        "\\cdot (<<table[2, 3]>>) = ",
        "Take position <<1>> and $d_{model} = <<P.shape[1]>>$, with pairs $r = <<0>>$ and $r = "
        "<<1>>$.",
        "a whole turn is $<<2>> \\pi$",
        "{<<10000>>^{<<2>> r / d",
        "\\frac{1}{<<10000>>^{<<0>> / <<4>>}}",
        "\\frac{1}{<<10000>>^{<<2>> / <<4>>}}",
        "row of position <<0>>",
        "*speed*: <<speeds[0]>> for the first hand, <<speeds[1]>> for the second",
        "back after $<<2>> \\pi$ positions",
        "so at <<round(7 * 2 * math.pi)>> it has made almost exactly seven turns. Compare "
        "positions <<round(7 * 2 * math.pi)>> and <<0>>:",
        "$\\cos \\varphi = <<0>>$, $\\sin \\varphi = <<1>>$) takes $(<<1>>, <<0>>)$ to "
        "$(<<partners(torch.tensor([1.0, 0]))[0]>>, <<partners(torch.tensor([1.0, 0]))[1]>>)$, "
        "and $(<<0>>, <<1>>)$ to $(<<partners(torch.tensor([0, 1.0]))[0]>>, "
        "<<partners(torch.tensor([0, 1.0]))[1]>>)$",
        "positions $<<0>>$ to $T - <<1>>$",
        "Take $[1, 2, 3, 4]$ at position <<1>>. The pair <<x[0]>>, <<x[1]>> turns by <<1>>, "
        "and the pair <<x[2]>>, <<x[3]>> by <<1 / 10000 ** (2 / 4)>>",
        "2 \\cdot 0.8415 = <<turned[0]>> \\qquad",
        "neighbors, <<0>> with <<1>> and <<2>> with <<3>>, as in the paper",
        "one from each half, <<order[0]>> with <<order[1]>> and <<order[2]>> with "
        "<<order[3]>>, as in the Transformers",
        "Interleaved gave $[<<turned[0]>>, <<turned[1]>>, <<turned[2]>>, <<turned[3]>>]$",
        "one pair, of speed <<speeds[0]>>.",
        "*position* from <<3>> to <<7>>",
        "*distance* to <<3>>, and to <<7>>",
        "at <<3>>, <<rotate(q2, 14) @ rotate(k2, 7)>> at <<7>>",
        "here distance <<distance>> scores more than <<1>>.",
        "stand at <<2>> and the key at <<0>>",
        "starts at position <<0>> and at position <<start>>:",
        "Take the distance <<1>> at three places",
        "positions from <<1>>, and",
        "Position <<P[:, 0].sub(0.8415).abs().argmin()>> is $[<<P[1, 0]>>, <<P[1, 1]>>, "
        "<<P[1, 2]>>, <<P[1, 3]>>]$",
        "The *base*, <<10000>>, sets",
    ),
    "bank/07_training": (
        "`attend=<<0>>`",
        "at least $-\\frac{<<1>>}{<<2>>} (\\ln p + \\ln (<<1>> - p))$",
        "With $p = <<0.8>>$ and with $p = <<0.5>>$",
        "what stands at position <<0>>.",
        "$d_{model} = <<d_model>>$ numbers",
        "to mean <<0>> and variance <<1>>",
        "axes of size <<1>> in `gain`",
        "For now $S$ is <<len(stack([start(0)])['table'])>>",
        "with <<0>>, the attention adds nothing",
        "seed <<42>> expects",
        "it is <<-math.log(1)>> for a probability of <<1>>.",
        "each of five words $<<1>>/<<len(words)>>$ has the loss $\\ln <<len(words)>>",
        "here <<0.03>>, times",
        "`1e-<<8>>`",
        "for a gradient of <<0.5>>, and for one of <<0.002>>:",
        "<<len(history['loss'])>> times: predict",
        "a probability above <<sure>>.",
        "at most $<<1>> - p$",
        "$p (<<1>> - p)$",
        "seed <<42>> lucky? Train the first <<stuck.shape[1]>> seeds",
        "stuck while its loss is above <<0.5>>. We count after <<40>> steps and after "
        "<<len(stuck) - 1>>:",
        "After <<40>> steps five of <<stuck.shape[1]>> are stuck, one in "
        "<<stuck.shape[1] / stuck[40].sum()>>.",
        "get out by step <<len(stuck) - 1>>:",
        "seed <<stuck[80].tolist().index(True, 277)>> among them, at $\\ln <<len(phrases)>>$",
        "From about $\\ln <<len(words)>>$ to $\\ln <<len(phrases)>>$",
        "and $\\ln <<len(phrases)>>$ is the best",
        "$\\ln w - \\ln (<<1>> - w)$",
        "moves by <<0.03>>, however",
        "after <<0>> to <<len(history['loss']) - 1>> steps:",
        "Without the memory all <<fresh['loss'].shape[1]>> starts",
        "with `memory=<<0>>` it",
        "*step* to <<3>>, to <<10>>, and to the end. At step <<10>> seed <<42>> answers",
        "rows of probabilities of seed <<277>> differ",
        "In seed <<42>> the weight of *river* goes from <<record['weights'][10, 0, 0, 0]>> to "
        "<<record['weights'][200, 0, 0, 0]>>",
        "rows of seed <<277>> agree: at step <<10>> they",
        "stuck ones after <<len(tried['loss']) - 1>> steps",
        "*river* gets <<attended[0, 0]>>.",
    ),
    "bank/08_kv_cache": (
        "= 1 \\qquad <<X[1, 0]>> \\cdot <<W_K[0, 1]>> + <<X[1, 1]>> \\cdot <<W_K[1, 1]>> = ",
        "$T (T + <<1>>) / <<2>>$",
        "query $[<<q[0]>>, <<q[1]>>]$",
        "The scores <<q @ K[0]>>, <<q @ K[1]>>, <<q @ K[2]>>, divided by $\\sqrt{<<len(q)>>}$",
        "0.5035 \\cdot 2 = <<one.output[0, 0]>>",
        "Chunks of <<1>>, <<2>>, <<3>> and all five",
        "chunks of <<1>>, <<2>>, <<3>> and all",
        "$$<<X[1, 0]>> \\cdot <<W_K[0, 0]>> + <<X[1, 1]>> \\cdot <<W_K[1, 0]>> = ",
        "<<again[4, 0]>> rows against <<kept[4, 0]>>",
        "For <<512>> tokens it is $512 \\cdot 513 / 2 = 131328$ against <<512>>.",
        "Move the step to <<len(kept) - 1>>",
        "Step <<len(kept)>> alone",
        "until <<new_tokens>> new",
        "prompt of <<prompt>> tokens",
        "start at <<0>> again",
        "count from <<0>>",
        "position is $[<<with_places[0, 0]>>, <<with_places[0, 1]>>]$",
        "taken for position <<0>>, sees key <<0>> alone, and gets its value, $[<<V[0, 0]>>, "
        "<<V[0, 1]>>]$",
        "with keys <<1>> and <<2>> as",
        "chunks of <<1>> cannot",
        "head of width <<cache.K[0].shape[1]>>",
        "takes\n\n$$<<2>> \\cdot",
        "takes $<<2>> \\cdot",
        "In `float16` a number takes <<torch.float16.itemsize>> bytes",
        "and Llama <<2>> were",
        "Both have <<models['Llama-3-8B'][0]>> query",
        "last number, for <<long_text>> tokens, compares",
        "<<depth>> layers, $d_{model} = <<d_model>>$, <<query_heads>> query heads of width "
        "<<d_head>>, and <<kv_heads>> heads",
        "where a number takes <<torch.float32.itemsize>> bytes",
        "Take four query heads of width <<Q_heads.shape[-1]>>",
        "heads <<0>> and <<1>> use the keys and values of head <<0>>, query heads <<2>> and "
        "<<3>> those of head <<1>>",
        "three kinds, <<len(Q_heads)>>, <<len(K_heads)>> and <<1>> heads",
        "keeps <<few(wide_K, 4)[:, 0].numel() * 2>>, <<few(wide_K, 2)[:, 0].numel() * 2>> or "
        "<<few(wide_K, 1)[:, 0].numel() * 2>> numbers",
        "scores, <<kept[4, 1]>> for five",
        "memory: <<torch.tensor(models['Llama-3-8B']).prod() * 4 * long_text / GiB>> GiB for "
        "one text of <<long_text>> tokens in",
        "key <<0>> alone",
    ),
    "light/01_five_steps": (
        "## Step <<1>>: embed",
        "Step <<1>> looks",
        "## Step <<2>>: score",
        "score of <<scores[0].min()>> from",
        "never have a <<1>> in the same place, so their score is <<scores[0, 1]>>. Each word "
        "scores "
        "<<scores[0, 0]>> with",
        "scale from <<0>> to <<1>>",
        "## Step <<3>>: scale",
        "## Step <<4>>: softmax",
        "sum of scores can be <<0>>",
        "higher by <<1>> gets",
        "Even a score of <<0>> gets",
        "the weight <<weights[0, 0]>>, *a* <<weights[0, 1]>>, and",
        "scores <<2>>, <<2>>, <<0>> with three keys of width <<4>>",
        "*divisor* to <<0.5>>, then to <<8>>",
        "our divisor <<math.sqrt(d_model)>>,",
        "soft: with <<8>>,",
        "`dim=<<0>>` makes",
        "\\frac{0}{\\sqrt{<<d_model>>}}",
        "so near to <<1>> that",
        "factor $<<1>> / e^{m}$",
        "power is $e^{<<0>>} = <<1>>$",
        "$e^{<<large[0]>>}$",
        "## Step <<5>>: mix",
        "of $X$, which is <<X[0, 0]>>, <<X[1, 0]>>, <<X[2, 0]>>, <<X[3, 0]>>, <<X[4, 0]>>",
        "column of $X$ is <<X[0, 1]>>, <<X[1, 1]>>, <<X[2, 1]>>, <<X[3, 1]>>, <<X[4, 1]>>",
        "## Steps <<2>> to <<5>> in",
        "| scores | <<scores[0, 0]>> | <<scores[0, 1]>> | <<scores[0, 2]>> | <<scores[0, 3]>> | "
        "<<scores[0, 4]>> |",
        "| scaled | <<scaled[0, 0]>> | <<scaled[0, 1]>> | <<scaled[0, 2]>> | <<scaled[0, 3]>> | "
        "<<scaled[0, 4]>> |",
        "| weights | <<weights[0, 0]>> | <<weights[0, 1]>> | <<weights[0, 2]>> | <<weights[0, 3]>> "
        "| "
        "<<weights[0, 4]>> |",
        "read <<(torch.round(weights, decimals=3)[0] @ X)[1]>> and "
        "<<(torch.round(weights, decimals=3)[0] @ X)[3]>> for",
        "is token <<[*tokens].index(tokens[0])>>, counted",
        "Set *d<<1>>* of *It's* to <<moved[0, 1]>>",
        "put *d<<1>>* back to <<X[0, 1]>>",
        "new *d<<1>>* meets",
        "have a <<X[1, 1]>> there, so their scores",
        "have a <<X[3, 1]>> there, so their weights",
        "grows from <<weights[0, 0]>> to <<torch.softmax(scores[0], dim=-1)[0]>>",
        "Exercise: steps <<2>> to <<5>> as",
    ),
    "light/02_batched_module": (
        "$B = <<len(batch)>>$, the second is $T = <<batch.shape[1]>>$, the third is $d_{model} = "
        "<<batch.shape[2]>>$",
        "Rows <<second.tokens.index('a')>> and <<second.tokens.index('a', 1)>> show",
        "not <<batch.shape[-1]>> wide",
        "scores are <<unmasked.scores[0, 0]>>, <<unmasked.scores[0, 1]>>, <<unmasked.scores[0, "
        "2]>> "
        "with the words, and <<unmasked.scores[0, 3]>> with each",
        "division by <<math.sqrt(padded.X.shape[1])>> they",
        "exactly <<0>>, and",
        "below the length, <<len(short.tokens)>>",
        "shape $(B, <<1>>, T)$",
        "axis of size <<1>> stands",
        "axis of size <<1>> as",
        "shape $(<<len(lengths)>>)$ of the lengths into $(<<len(allowed)>>, <<allowed.shape[1]>>, "
        "<<lengths[:, None, None].shape[2]>>)$",
        "score became <<(row * real)[-1]>>,",
        "set to <<0>> after",
        "instead of <<1>>.",
        "its *d<<0>>*.",
        "steps <<2>> to <<5>> in",
        "scores: <<added.max()>> leaves",
    ),
    "light/03_trainable_weights": (
        "take <<W_Q.shape[0]>> numbers and give <<W_Q.shape[1]>>, so $d_{model} = <<X.shape[1]>>$ "
        "and "
        "$d_k = d_v = <<K.shape[1]>>$",
        "key is $[<<K[0, 0]>>, <<K[0, 1]>>]$",
        "key of *a* is $[<<K[1, 0]>>, <<K[1, 1]>>]$",
        "and score <<scores[0, 2]>>",
        "a key is now <<K.shape[1]>> numbers wide, so it is $\\sqrt{<<K.shape[1]>>}$",
        "weights is <<weights[2, 0]>>.",
        "passes on $[<<V[4, 0]>>, <<V[4, 1]>>]$",
        "adds <<V[4, 1]>> there",
        "from <<W_K[0, 1]>> to <<W_K_changed[0, 1]>>",
        "the score <<(Q @ (X @ W_K_changed).T)[0, 1]>>, but *a* gives *It's* "
        "<<(Q @ (X @ W_K_changed).T)[1, 0]>>",
        "with a <<1>> in the first place",
        "its *d<<0>>* and its *d<<X.shape[1] - 1>>* to <<moved[4, 3]>>",
        "value, $[<<(moved[4] @ W_V)[0]>>, <<(moved[4] @ W_V)[1]>>]$",
        "Take $x = [<<x[0]>>, <<x[1]>>]$",
        "first row, $[<<W[0, 0]>>, <<W[0, 1]>>]$",
        "it is <<-math.log(1)>> when the weight is <<1>>,",
        "*learning rate*, here <<learning_rate>>",
        "then steps <<2>> to <<5>>.",
        "this <<len(looks) - 1>> times",
        "After <<len(looks) - 1>> steps",
        "gradient is <<0>>.",
        "other three <<weights[3, 4]>>:",
        "keys $<<0>>$ to $i$",
        "so its weight is <<masked_result.weights[0, 0]>>. *a* sees two words: scaled scores "
        "<<masked_result.scaled[1, 0]>> and <<masked_result.scaled[1, 1]>>",
        "receive is $[<<masked_result.output[0, 0]>>, <<masked_result.output[0, 1]>>]$",
        "attention weights to <<0>> by",
        "by $<<1>> - p$",
    ),
    "mouse/01_same_word_two_contexts": (
        "*mouse* has one row, $[<<X_cat[2, 0]>>, <<X_cat[2, 1]>>, <<X_cat[2, 2]>>]$",
        "*mouse* is $[<<X_cat[2, 0]>>, <<X_cat[2, 1]>>, <<X_cat[2, 2]>>]$",
        "clear: <<table.X[0, 0]>> in one dimension, <<table.X[0, 1]>> in",
        "*cat* is $[<<X_cat[0, 0]>>, <<X_cat[0, 1]>>, <<X_cat[0, 2]>>]$, and",
        "*friends* is $[<<X_cat[4, 0]>>, <<X_cat[4, 1]>>, <<X_cat[4, 2]>>]$: $$<<X_cat[2, 0]>> "
        "\\cdot <<X_cat[0, 0]>> + <<X_cat[2, 1]>> \\cdot <<X_cat[0, 1]>> + <<X_cat[2, 2]>> \\cdot "
        "<<X_cat[0, 2]>> = ",
        "weak: <<table.X[5, 0]>> in",
        "$(T, d_{model})$ is $(<<X_cat.shape[0]>>, <<X_cat.shape[1]>>)$",
        "*mouse* is token <<cat.tokens.index('mouse')>>, counted",
        "*mouse* is token <<keyboard.tokens.index('mouse')>> in both",
        "*keyboard*: <<(X_keyboard @ X_keyboard[2])[0]>> each",
        "shape $(<<cross.weights.shape[0]>>, <<cross.weights.shape[1]>>)$",
        "scores are all <<cross.scores[1].max()>>,",
        "a *<<1>>-D convolution*",
        "window of width <<len(kernel)>>,",
        "cue is token <<far_cat.tokens.index('cat')>>, *mouse* is token "
        "<<far_cat.tokens.index('mouse')>>",
        "layer of width <<len(kernel)>> cannot",
        "span $<<1>> + <<len(kernel) - 1>>n$ places",
        "takes <<far_cat.tokens.index('mouse') // (len(kernel) // 2)>> layers",
        "kernel $[<<shift[0]>>, <<shift[1]>>, <<shift[2]>>]$ takes",
        "window of width <<len(wide)>> needs",
        "*layers* from <<1>> until",
        "*distance* to <<6>>. How",
        "*distance* from <<1>> to <<6>>?",
        "Distance <<len(rows[0]) - 1>> in code",
        "distances <<1>>, <<6>> and <<between + 1>>:",
        "brings <<X[0, 0]>> to animal, *mouse* <<X[-1, 0]>> to each",
        "odd: <<3>>, <<5>>, <<7>> and so on. Distance <<1>> is",
        "*cat*, token <<far_cat.tokens.index('cat')>>, with the *and* before *mouse*, token "
        "<<far_cat.tokens.index('mouse') - 1>>",
        "convolution of width <<len(kernel)>>",
        "$<<len(kernel)>>T$ rows are mixed | $T^<<2>>$ scores",
    ),
    "mouse/02_attention_matrix": (
        "Take $[<<all_tech[0]>>, <<all_tech[1]>>, <<all_tech[2]>>]$",
        "point $[<<all_tech[0]>>, <<all_tech[1]>>, <<all_tech[2]>>]$",
        "$T = <<T>>$ tokens",
        "width $d_{model} = <<d_model>>$:",
        "asks: <<scores[2, 0]>> with *cat*, <<scores[2, 2]>> with itself, <<scores[2, 4]>> with "
        "*friends*, <<scores[2, 1]>> with *and*",
        "here $d_k = d_{model} = <<d_model>>$",
        "for all, here $\\sqrt{<<d_model>>}$",
        "\\frac{0}{\\sqrt{<<d_model>>}}",
        "with the score <<scores[2, 0]>> and two with the score <<scores[2, 1]>>",
        "scores of $[1, 1, 0]$ are <<scores[2, 2]>> with itself, <<scores[2, 1]>> with *and*, and "
        "<<scores[2, 4]>> with each",
        "animal, is <<X[0, 0]>>, <<X[1, 0]>>, <<X[2, 0]>>, <<X[3, 0]>>, <<X[4, 0]>>.",
        "not <<d_model>> wide",
        "| before, in both sentences | <<X[2, 0]>> | <<X[2, 1]>> | <<X[2, 2]>> |",
        "| after, with *cat* | <<moves[1, 0]>> | <<moves[1, 1]>> | <<moves[1, 2]>> |",
        "| after, with *keyboard* | <<moves[2, 0]>> | <<moves[2, 1]>> | <<moves[2, 2]>> |",
        "was <<X[2, 0]>> : <<X[2, 1]>>. Now it is <<round(float(moves[1, 0] / moves[1, 1]), 1)>> "
        ": <<1>> with *cat*, and <<1>> : <<round(float(moves[2, 1] / moves[2, 0]), 1)>> with "
        "*keyboard*",
        "went from <<moves[0, 0]>> to",
        "fell from <<moves[0, 1]>> to",
        "*new animal* to <<new_rows[0][0]>>, then to <<new_rows[1][0]>>. How",
        "*new animal* to <<new_rows[2][0]>> and *new tech* to <<new_rows[2][1]>>",
        "With <<new_rows[0][0]>> the",
        "With <<new_rows[1][0]>> the",
        "is never <<0>> and",
        "row <<0>> gives itself",
        "rows are <<(X[:, 0] - X[:, 1]).min()>> or more",
        "would have $<<all_tech[0] - all_tech[1]>>$",
        "their score is <<scores[2, 1]>>,",
        "That is <<average[0] / average[1]>> : <<1>> for animal, more than the "
        "<<round(float(output[2, 0] / output[2, 1]), 1)>> : <<1>> of",
        "animal and tech are <<few.X[1, :2].sum()>>.",
        "instead of <<average[2]>>.",
        "Tech is <<crowd[:, 1].mean()>> each time: a *useful* brings <<crowd[2, 1]>>, which",
        "gives exactly <<torch.tensor(-math.inf).exp()>>.",
        "alike, <<scores[2, 0]>> and <<scores[2, 2]>>.",
        "exactly <<0>>, though a computer may round it to <<0>>",
        "divided by $\\sqrt{<<d_model>>}$;",
        "With scores <<crowd.X[1] @ crowd.X[0]>>, <<crowd.X[1] @ crowd.X[1]>> and "
        "<<crowd.X[1] @ crowd.X[2]>>, tech",
        "ahead of animal when $<<crowd.X[2, 1]>> \\, n \\, e^{<<crowd.X[1] @ crowd.X[2]>> / "
        "\\sqrt{<<d_model>>}}$ is more than "
        "$<<crowd.X[0, 0]>> \\, e^{<<crowd.X[1] @ crowd.X[0]>> / "
        "\\sqrt{<<d_model>>}}$",
        "more than <<(crowd.X[:2, 0] - crowd.X[:2, 1]).sum() / crowd.X[2, 1]>> are",
        "a score of <<scores[2, 1]>>.",
    ),
    "mouse/03_learning_to_mix": (
        "\\frac{<<1>>}{1 + e^{-lean}}",
        "words whose rows are $[<<X[0, 0]>>, <<X[0, 1]>>]$ and $[<<X[1, 0]>>, <<X[1, 1]>>]$",
        "query of word <<0>> is $[1, 0]$, and the key of word <<1>> is $[1, 0]$. So word <<0>> "
        "gives "
        "word <<1>> the",
        "$$<<(X[0] @ W_Q)[0]>> \\cdot <<(X[1] @ W_K)[0]>> + <<(X[0] @ W_Q)[1]>> \\cdot "
        "<<(X[1] @ W_K)[1]>> = <<X[0] @ W_Q @ (X[1] @ W_K)>>$$ The other",
        "Word <<0>> looks for word <<1>>, and word <<1>> does not look for word <<0>>",
        "product is <<X[0] @ X[1]>>.",
        "weights of word <<0>> come from the scores <<scores[0, 0]>> and <<scores[0, 1]>>, divided "
        "by "
        "$\\sqrt{d_k} = \\sqrt{<<(torch.eye(2) @ W_K).shape[1]>>}$",
        "shape $(<<len(given_Q)>>, <<len(given_K)>>)$, not",
        "with a <<sentence('cat', 'cat').X[0, 0]>> in their",
        "are weak, with <<sentence('cat', 'friends').X[0, 0]>>, and",
        "at position <<2>>. Nobody",
        "`(<<3>>, <<3>>)`, and a *readout*, a matrix of shape `(<<3>>, <<2>>)`",
        "{<<1>> + e^{-lean}}",
        "axis of size <<1>> in",
        "With `factor` <<factors['attention']>> this",
        "With `factor` <<factors['average']>> all scores are <<0>>,",
        "near <<0>> when",
        "rate, here <<rate>>.",
        "sum, <<X_held[4:6, :, 1].sum(-1)[0]>> and <<X_held[4:6, :, 1].sum(-1)[1]>> against "
        "<<X_held[4, :, 0].sum()>>:",
        "gets <<right(X_held, histories['average'][100], 0).max()>> of <<len(sign)>>. Attention",
        "The training of seed <<0>>, seen on three held-out sentences. In sentence "
        "<<[e.tokens for e in examples].index(held_texts[0].split())>> the cue is the last word; "
        "sentences <<[e.tokens for e in examples].index(held_texts[4].split())>> and "
        "<<[e.tokens for e in examples].index(held_texts[10].split())>> are outvoted. Drag *step* "
        "to <<20>>, to <<25>>, and to <<100>>.",
        "for sentences <<[e.tokens for e in examples].index(held_texts[4].split())>> and "
        "<<[e.tokens for e in examples].index(held_texts[10].split())>>:",
        "At step <<20>> the weights are still close to those of the plain average, and sentence "
        "<<[e.tokens for e in examples].index(held_texts[10].split())>> gets "
        "<<answer(X_held, histories['attention'][20], 1)[0, 10].sigmoid()>> for",
        "*cat* is above *mouse*, <<look(held_texts[4], seed_0[100])[0][2, 0]>> against "
        "<<look(held_texts[4], seed_0[100])[0][2, 2]>>, and *keyboard* is below it, "
        "<<look(held_texts[10], seed_0[100])[0][2, 0]>> against "
        "<<look(held_texts[10], seed_0[100])[0][2, 2]>>.",
        "row of *mouse*, $[<<X_held[0, 2, 0]>>, <<X_held[0, 2, 1]>>, <<X_held[0, 2, 2]>>]$, "
        "is halfway between $[<<X_held[4, 0, 0]>>, <<X_held[4, 0, 1]>>, <<X_held[4, 0, 2]>>]$ and "
        "$[<<X_held[10, 0, 0]>>, <<X_held[10, 0, 1]>>, <<X_held[10, 0, 2]>>]$",
        "At steps <<25>> and <<100>> all three",
        "the weights $[<<two_weights[0]>>, <<two_weights[1]>>]$ and",
        "weight, <<weights[2]>>, is on *mouse*, which adds only <<adds[2]>>. *keyboard* has the "
        "smaller weight, <<weights[0]>>, and decides: it adds <<adds[0]>>",
        "value to <<0>> is called *ablation*",
        "it is almost <<torch.sigmoid(adds.sum()).round()>>.",
        "How many of the <<seeds>> seeds",
        "Seed <<0>> is one of the "
        "<<sum(right(X_train, large, 1) + right(X_held, large, 1) == 24)>> with full marks",
        "gives *cat* <<look(held_texts[0], large_0)[0][2, 7]>>, but it gives *keyboard* "
        "<<look(held_texts[6], large_0)[0][2, 7]>>, and itself "
        "<<look(held_texts[6], large_0)[0][2, 2]>>.",
        "and <<steps[-1]>> steps",
        "each of <<seeds>> seeds",
        "gets <<right(X_held, histories['average'][100], 0).max()>> of <<len(sign)>>, *mouse* "
        "alone <<max((always * sign > 0).sum() for always in (1, -1))>>",
        "effect: the weights $[<<two_weights[0]>>, <<two_weights[1]>>]$ can",
    ),
    "mouse/04_changing_dimension": (
        "row of *mouse* is $[<<X[2, 0]>>, <<X[2, 1]>>, <<X[2, 2]>>]$",
        "had the width <<X.shape[1]>>:",
        "$d_k$ is <<X.shape[1]>> and $d_v$ is <<V.shape[1]>>",
        "gets $[<<0>>, <<2>>]$ and *and* gets $[<<1>>, <<0>>]$",
        "$$<<X[2, 0]>> \\cdot <<to_two[0, 0]>> + <<X[2, 1]>> \\cdot <<to_two[1, 0]>> + "
        "<<X[2, 2]>> \\cdot <<to_two[2, 0]>> = <<V[2, 0]>> \\qquad "
        "<<X[2, 0]>> \\cdot <<to_two[0, 1]>> + <<X[2, 1]>> \\cdot <<to_two[1, 1]>> + "
        "<<X[2, 2]>> \\cdot <<to_two[2, 1]>> = <<V[2, 1]>>",
        "here $\\sqrt{<<X.shape[1]>>}$",
        "With $d_v = <<widths[0]>>$ the score of *mouse* with *cat*, which is <<X[2] @ X[0]>>, "
        "stays "
        "<<X[2] @ X[0]>>. With $d_v = <<widths[2]>>$ it",
        "\\frac{2}{\\sqrt{<<widths[2]>>}}",
        "divisors $<<widths[0]>>$, $\\sqrt{<<widths[1]>>}$ and $\\sqrt{<<widths[2]>>}$",
        "at $d_v = <<widths[0]>>$ and <<rows[3][0]>> at $d_v = <<widths[2]>>$",
        "at most <<torch.linalg.matrix_rank(X)>>",
        "minus animal, so $d_v = <<to_one.shape[1]>>$",
        "W_V = \\begin{bmatrix} <<to_one[0]>> \\\\ <<to_one[1]>> \\\\ <<to_one[2]>> \\end",
        "value $<<(X @ to_one)[0]>>$ and *friends* $<<(X @ to_one)[4]>>$; the other three get "
        "<<(X @ to_one)[2]>>",
        "*cat* and *friends* are <<weights[2, 0]>> and <<weights[2, 4]>>",
        "$$<<weights[2, 0]>> \\cdot (<<(X @ to_one)[0]>>) + <<weights[2, 4]>> \\cdot "
        "(<<(X @ to_one)[4]>>) = ",
        "have the same value, <<(X @ to_one)[2]>>.",
        "With one number both are <<one.output[1]>>.",
        "from this <<one.output[1]>> alone",
        "comes back as <<(both @ to_two @ torch.linalg.pinv(to_two))[0, 2]>>.",
        "*animal d<<0>>* to <<1>>, then to <<0>>; then set *tech d<<0>>* to <<0>> and *grammar "
        "d<<0>>* to <<1>>.",
        "Ours have $d_k = <<animal.shape[1]>>$ and $d_v = <<W_V_tech.shape[1]>>$",
        "`split(<<animal.shape[1]>>, dim=<<1>>)` cuts",
        "heads with <<X[2, 0]>>. In the animal head *cat* answers <<animal_head.scores[2, 0]>> and "
        "*friends* <<animal_head.scores[2, 4]>>. In the tech head they answer "
        "$<<tech_head.scores[2, 0]>>$ and $<<tech_head.scores[2, 4]>>$. The key of *mouse* itself "
        "is "
        "<<animal_head.scores[2, 2]>> in both",
        "tech head only <<tech_head.weights[2, 0]>>",
        "$T = <<6>>$ tokens, $d_{model} = <<8>>$, $H = <<3>>$ heads, $d_k = <<4>>$ and $d_v = "
        "<<5>>$",
        "refuse width <<output.shape[1]>> by",
        "$W_O$ were $[<<ones[0, 0]>>, <<ones[0, 1]>>, <<ones[0, 2]>>]$",
        "minus tech is still <<(X + output_one)[2, 0] - (X + output_one)[2, 1]>>,",
        "with width <<output_one.shape[1]>>.",
        "shape $(<<W_O_one.shape[0]>>, <<W_O_one.shape[1]>>)$",
        "`W_Q[<<0>>]` belongs",
        "at most <<X.shape[1]>>. With $d_v = <<to_one.shape[1]>>$ one",
        "accepts width <<output_one.shape[1]>> in",
    ),
}
