"""The screens' model over the real thing, in parts: one module for each part of ``screens.model``."""

from __future__ import annotations

from app.model.access import Surroundings
from app.model.activity import ActivityParts
from app.model.answers import AnswersParts
from app.model.attach import AttachParts
from app.model.core import CoreParts
from app.model.hosts import HostsParts
from app.model.item import ItemParts
from app.model.memory import MemoryParts
from app.model.providers import ProvidersParts
from app.model.run import RunParts
from app.model.search import SearchParts
from app.model.tree import TreeParts
from app.model.wall import WallParts

__all__ = ["StoreModel", "Surroundings"]


class StoreModel(
    CoreParts,
    ItemParts,
    RunParts,
    TreeParts,
    WallParts,
    HostsParts,
    ProvidersParts,
    ActivityParts,
    SearchParts,
    MemoryParts,
    AttachParts,
    AnswersParts,
):
    """Implements ``screens.model.ControlRoomModel``."""
