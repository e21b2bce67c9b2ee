"""`lab train-questions`: MiniLM reads a question as what would answer it.

Only the biases and norms are learned (Ben Zaken et al. 2022, BitFit), 30,720 numbers, and only of
questions: statements keep their vectors, and what is stored stays as it is. A question is drawn to
the clause that answers it and away from all others of its batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from memoryhub.engines.embedding.model_files import MINILM_TOKENIZER
from memoryhub.lab.training.asked import AskedStatement, compute_contrast, number_messages

BATCH, ROUNDS, PACE, WARM_UP = 96, 4, 2e-3, 20
SHARPNESS = 20.0  # of the softmax over cosines
MOST_TOKENS = 64
# As the packaged file calls what the library calls without it.
_PREFIX = "inner."


def train_question_biases(
    asked: Sequence[AskedStatement], progress: Callable[[str], None]
) -> dict[str, NDArray[np.float32]]:
    """By the packaged file's names. The same questions give the same, but for the last bits."""
    import torch  # heavy, and needed by whoever trains
    from transformers import AutoModel, AutoTokenizer

    folder = str(MINILM_TOKENIZER.locate().parent)
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder)

    def embed(texts: Sequence[str]) -> torch.Tensor:
        batch = tokenizer(
            list(texts), padding=True, truncation=True, max_length=MOST_TOKENS, return_tensors="pt"
        )
        mask = batch["attention_mask"][..., None].float()
        hidden = model(**batch).last_hidden_state
        return torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=-1)

    model.eval()
    with torch.no_grad():
        clauses = torch.cat([embed([each.clause]) for each in asked])
    learned = []
    for name, held in model.named_parameters():
        learns = (name.endswith("bias") or "LayerNorm" in name) and not name.startswith("pooler")
        held.requires_grad = learns
        learned += [held] if held.requires_grad else []
    steps = torch.optim.AdamW(learned, lr=PACE, weight_decay=0.0)
    message = torch.tensor(number_messages(asked))
    model.train()
    chance = np.random.default_rng(0)
    count, done = ROUNDS * (len(asked) // BATCH), 0
    for number in range(1, ROUNDS + 1):
        order, total = chance.permutation(len(asked)).tolist(), 0.0
        for at in range(0, len(order) - BATCH + 1, BATCH):
            batch = order[at : at + BATCH]
            for group in steps.param_groups:
                group["lr"] = PACE * (1 - done / count) * min(1, (done + 1) / WARM_UP)
            questions = embed([asked[n].question for n in batch])
            loss = compute_contrast(questions @ clauses[batch].T * SHARPNESS, message[batch])
            steps.zero_grad()
            cast("Any", loss).backward()  # which torch gives no type
            steps.step()
            total, done = total + float(loss.detach()), done + 1
        progress(f"round {number}: {total / max(1, len(order) // BATCH):.3f}")
    return {
        _PREFIX + name: held.detach().numpy()
        for name, held in model.named_parameters()
        if held.requires_grad
    }
