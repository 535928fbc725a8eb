"""The retrievers for LangChain and LlamaIndex: LangChain's standard tests, and LlamaIndex's own ways to use one."""

import asyncio
import os

import forage
import pytest
from forage.langchain import ForageRetriever as LangChainRetriever
from forage.llamaindex import ForageRetriever as LlamaIndexRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests

QUESTION = "How many people does the Petrel carry?"
TEXTS = ["The rowing boat Petrel carries four people.", "The Coot is a canoe for two people.", "The weir is opened in March.",
         "Boats for many people lie at the north pier.", "People carry canoes over the weir."]
client = forage.open(os.environ["PLACE"])
client.ingest([{"id": f"d-{i}", "text": t, "metadata": {"number": i}} for i, t in enumerate(TEXTS)])


class TestLangChain(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self):
        return LangChainRetriever

    @property
    def retriever_constructor_params(self):
        return {"client": client}

    @property
    def retriever_query_example(self):
        return QUESTION

    def test_documents_know_their_place(self):
        retriever = LangChainRetriever(client=client, k=2, filter={"type": "lt", "key": "number", "value": 2})
        for found in (retriever.invoke(QUESTION), asyncio.run(retriever.ainvoke(QUESTION))):
            assert found[0].metadata["document_id"] == "d-0" and found[0].metadata["number"] == 0
            assert found[0].page_content == TEXTS[0] and found[0].id and len(found) == 2


class TestLlamaIndex:
    def test_it_is_a_base_retriever(self):
        from llama_index.core.base.base_retriever import BaseRetriever
        assert BaseRetriever.__name__ in [c.__name__ for c in LlamaIndexRetriever.__mro__]

    def test_nodes_have_scores_sources_and_spans(self):
        retriever = LlamaIndexRetriever(client, top_k=3)
        for found in (retriever.retrieve(QUESTION), asyncio.run(retriever.aretrieve(QUESTION))):
            assert len(found) == 3 and found[0].node.text == TEXTS[0]
            assert found[0].score >= found[1].score and found[0].node.source_node.node_id == "d-0"
            assert found[0].node.start_char_idx == 0 and found[0].node.metadata["number"] == 0

    def test_a_query_engine_reads_them(self):
        from llama_index.core.llms import MockLLM
        from llama_index.core.query_engine import RetrieverQueryEngine
        engine = RetrieverQueryEngine.from_args(LlamaIndexRetriever(client, top_k=2), llm=MockLLM())
        reply = engine.query(QUESTION)
        assert len(reply.source_nodes) == 2 and TEXTS[0] in str(reply)


def test_a_refusal_reaches_the_caller():
    with pytest.raises(forage.ForageError):
        LangChainRetriever(client=client, collection="none").invoke(QUESTION)
