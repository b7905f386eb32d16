from .context import BuiltContext as BuiltContext, Knowledge as Knowledge, knowledge_block as knowledge_block
from .coverage import coverage as coverage
from .coverage_table import print_coverage as print_coverage
from .index import (
    Index as Index,
    Retriever as Retriever,
    check_place as check_place,
    is_index as is_index,
    open_base as open_base,
    read_base as read_base,
    read_retrievers as read_retrievers,
)
from .layout import Layout as Layout
from .leaks import leaks as leaks
from .retrieval.quality import measure as measure, read_numbers as read_numbers
from .retrieval.quality_table import print_report as print_report
from .retrieval.query import QueryWriter as QueryWriter, questions as questions, read_joined as read_joined
from .retrieval.rerank import Reranker as Reranker
from .retrieval.rerankers import open_reranker as open_reranker, reranker_identity as reranker_identity
from .retrieve import look_up as look_up
from .taxonomy import Taxonomy as Taxonomy
