"""What the screens ask for and what they may do: one protocol between the control room and the store, in parts.

Every read and verb is a coroutine that does its work off the UI thread. Reads return frozen views made of the store's
records. A verb that is refused raises ``PamError``; its sentence is shown to the operator as it is.
"""

from __future__ import annotations

from typing import Protocol

from screens.model.activity import ActivityModel
from screens.model.answers import AnswersModel
from screens.model.attach import AttachModel
from screens.model.core import CoreModel
from screens.model.hosts import HostsModel
from screens.model.item import ItemModel
from screens.model.memory import MemoryModel
from screens.model.providers import ProvidersModel
from screens.model.run import RunModel
from screens.model.search import SearchModel
from screens.model.starting import FirstStart, NewItem, ProviderChoice, StartChoices, StartRequest
from screens.model.tree import TreeModel
from screens.model.views import (
    BoardView,
    CardView,
    ExecutorState,
    HeaderFacts,
    ItemView,
    ProjectView,
    RunView,
)
from screens.model.wall import WallModel

__all__ = [
    "BoardView",
    "CardView",
    "ControlRoomModel",
    "ExecutorState",
    "FirstStart",
    "HeaderFacts",
    "ItemView",
    "NewItem",
    "ProjectView",
    "ProviderChoice",
    "RunView",
    "StartChoices",
    "StartRequest",
]


class ControlRoomModel(
    CoreModel,
    ItemModel,
    RunModel,
    TreeModel,
    WallModel,
    HostsModel,
    ProvidersModel,
    ActivityModel,
    SearchModel,
    MemoryModel,
    AttachModel,
    AnswersModel,
    Protocol,
):
    """Everything the screens need. ``app`` implements it over the store's verbs and the executor's captures."""
