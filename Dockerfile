# syntax=docker/dockerfile:1
# The server with its model inside: `docker build --tag memorata .` needs a network, `docker run` needs none.
ARG PYTHON=3.12

FROM python:${PYTHON}-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /source
RUN python -m venv /opt/memorata
COPY deploy/requirements.lock pyproject.toml README.md LICENSE ./
COPY src ./src
COPY packages/memorata-models ./packages/memorata-models
COPY packages/memorata-postgres ./packages/memorata-postgres
COPY packages/memorata-server ./packages/memorata-server
# Exact versions, checked by their hashes (`make lock` writes them), and nothing else; the model's files are
# checked against the hashes in the catalogue.
RUN /opt/memorata/bin/pip install --require-hashes --requirement requirements.lock \
    && /opt/memorata/bin/pip install --no-deps --no-build-isolation . ./packages/memorata-models ./packages/memorata-postgres ./packages/memorata-server \
    && MEMORATA_MODELS=/opt/memorata/models /opt/memorata/bin/memorata model install arctic-embed-s

FROM python:${PYTHON}-slim
LABEL org.opencontainers.image.title="Memorata" \
      org.opencontainers.image.description="Memory retrieval for AI agents" \
      org.opencontainers.image.licenses="Apache-2.0"
# A number, so that Kubernetes can see that it is not root's.
RUN groupadd --gid 10001 memorata \
    && useradd --uid 10001 --gid memorata --no-create-home --shell /usr/sbin/nologin memorata \
    && install --directory --owner memorata --group memorata --mode 0700 /data
COPY --from=build /opt/memorata /opt/memorata
ENV PATH=/opt/memorata/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    MEMORATA_DB=/data/memories.db \
    MEMORATA_MODELS=/opt/memorata/models
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8765
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/v1/health', timeout=2)"]
ENTRYPOINT ["memorata"]
CMD ["server", "start", "--host", "0.0.0.0"]
