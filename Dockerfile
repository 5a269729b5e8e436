# The installed package without this repository. It runs the demonstration:
#
#     docker build -t mnlearn .
#     mkdir -p out && docker run --rm --user "$(id -u):$(id -g)" -v "$PWD/out:/work" mnlearn
#
# The results are then in out/results/. Other commands follow the name of the image:
# `docker run ... mnlearn study dtsl --datasets nltcs`.
FROM python:3.13-slim AS build
WORKDIR /sources
COPY requirements.lock ./
RUN python -m venv /opt/mnlearn \
 && /opt/mnlearn/bin/pip install --no-cache-dir --require-hashes --requirement requirements.lock
COPY . .
RUN /opt/mnlearn/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.13-slim
COPY --from=build /opt/mnlearn /opt/mnlearn
# The user who runs it needs no account here: caches go to /tmp.
ENV PATH=/opt/mnlearn/bin:$PATH HOME=/tmp USER=mnlearn
RUN mkdir -m 1777 /work
WORKDIR /work
ENTRYPOINT ["mnlearn"]
CMD ["demo"]
