from .built_context import (
    BuiltContext as BuiltContext,
    Knowledge as Knowledge,
    Layout as Layout,
    knowledge_block as knowledge_block,
)
from .index import (
    Index as Index,
    Retriever as Retriever,
    check_index_place as check_index_place,
    is_index as is_index,
    open_base as open_base,
    read_base as read_base,
    read_retrievers as read_retrievers,
)
from .look_up import look_up_points as look_up_points
from .measure_coverage import measure_coverage as measure_coverage, print_coverage as print_coverage
from .read_taxonomy import read_taxonomy as read_taxonomy
from .retrieval.measure_retrieval import (
    measure_retrieval as measure_retrieval,
    print_retrieval as print_retrieval,
    read_ks as read_ks,
)
from .retrieval.passages import (
    QueryWriter as QueryWriter,
    gather_questions as gather_questions,
    read_joined as read_joined,
)
from .retrieval.rerank import (
    Reranker as Reranker,
    open_reranker as open_reranker,
    reranker_identity as reranker_identity,
)
from .taxonomy import Node as Node, Taxonomy as Taxonomy
