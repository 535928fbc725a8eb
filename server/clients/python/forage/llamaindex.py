"""A retriever for LlamaIndex (pip install llama-index-core).

    from forage.llamaindex import ForageRetriever
    retriever = ForageRetriever(forage.open("http://127.0.0.1:8080"), top_k=4)
    retriever.retrieve("How often is the north pump serviced?")
"""

from __future__ import annotations

from typing import Any, List

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode

from ._client import Client, Reply


def _nodes(reply: Reply) -> List[NodeWithScore]:
    nodes = []
    for c in reply["contexts"]:
        place = {k: v for k, v in c.items() if v is not None and k not in ("text", "metadata", "scores", "score", "start", "end")}
        node = TextNode(id_=c["chunk_id"], text=c["text"], metadata={**(c.get("metadata") or {}), **place},
                        start_char_idx=c["start"], end_char_idx=c["end"])
        node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=c["document_id"])
        nodes.append(NodeWithScore(node=node, score=c["score"]))
    return nodes


class ForageRetriever(BaseRetriever):
    """Passages of a home or a service as nodes; options are those of POST /search (collection, top_k, filter, search)."""

    def __init__(self, client: Client, **options: Any) -> None:
        self._client, self._options = client, options
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> List[NodeWithScore]:
        return _nodes(self._client.search(query_bundle.query_str, **self._options))

    async def _aretrieve(self, query_bundle: QueryBundle) -> List[NodeWithScore]:
        return _nodes(await self._client.asearch(query_bundle.query_str, **self._options))
