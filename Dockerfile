# mmdyn without a GPU, at the tested versions:
#
#     docker build -t mmdyn .
#     docker run --rm -u "$(id -u):$(id -g)" -v "$PWD:/work" mmdyn demo
#     docker run --rm -it -u "$(id -u):$(id -g)" -v "$PWD:/work" -p 127.0.0.1:8765:8765 mmdyn view mmdyn-demo
#
# What it writes lies in the folder that you start it in, and is yours. A model's server on your own machine is reached
# with `--network host`; a key is handed in with `-e OPENAI_API_KEY`. Other extras: `--build-arg EXTRAS=view,parquet,plots`.
FROM python:3.13-slim AS build
ARG EXTRAS=view
WORKDIR /src
COPY . .
RUN pip install --no-cache-dir -c constraints.txt build hatchling \
    && python -m build --wheel --no-isolation \
    && python -m venv --without-pip /opt/mmdyn \
    && pip --python /opt/mmdyn/bin/python install --no-cache-dir -c constraints.txt "$(echo dist/*.whl)[$EXTRAS]"

FROM python:3.13-slim
COPY --from=build /opt/mmdyn /opt/mmdyn
# Whoever `-u` names has no home here: /tmp is everybody's. The viewer's port is forwarded from outside. `docker stop` is
# a Ctrl-C, after which the same command goes on.
ENV PATH=/opt/mmdyn/bin:$PATH HOME=/tmp MMDYN_VIEW_HOST=0.0.0.0
WORKDIR /work
USER 1000:1000
EXPOSE 8765
STOPSIGNAL SIGINT
ENTRYPOINT ["mmdyn"]
CMD ["--help"]
