"""A retriever for LangChain (pip install langchain-core).

    from forage.langchain import ForageRetriever
    retriever = ForageRetriever(client=forage.open("http://127.0.0.1:8080"), k=4)
    retriever.invoke("How often is the north pump serviced?")
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from ._client import Client, Reply


def _documents(reply: Reply) -> List[Document]:
    return [Document(id=c["chunk_id"], page_content=c["text"],
                     metadata={**(c.get("metadata") or {}), **{k: v for k, v in c.items() if k not in ("text", "metadata", "scores")}})
            for c in reply["contexts"]]


class ForageRetriever(BaseRetriever):
    """Passages of a home or a service as documents: their own metadata, and beside it the place of each (document_id,
    title, uri, start, end, page, ...) and its score. search goes to the service's field of that name."""

    client: Client
    collection: str = "default"
    k: int = 8
    filter: Optional[Dict[str, Any]] = None
    search: Optional[Dict[str, Any]] = None

    def _options(self, k: Optional[int], rest: Dict[str, Any]) -> Dict[str, Any]:
        return {"collection": self.collection, "top_k": self.k if k is None else k, "filter": self.filter,
                "search": self.search, **rest}

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun,
                                k: Optional[int] = None, **options: Any) -> List[Document]:
        return _documents(self.client.search(query, **self._options(k, options)))

    async def _aget_relevant_documents(self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun,
                                       k: Optional[int] = None, **options: Any) -> List[Document]:
        return _documents(await self.client.asearch(query, **self._options(k, options)))
