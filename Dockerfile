# flinkplan with Java and Spark, run by a user without rights:
#
#     docker build -t flinkplan .
#     docker run --rm -v "$PWD:/work" flinkplan compile pipeline.sql -o plan.json

FROM python:3.12-slim-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends openjdk-17-jdk-headless \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY flinkplan ./flinkplan
# the kernels are compiled here, so that the image that runs needs no compiler
RUN pip install --no-cache-dir . \
    && python -c 'from flinkplan.executor.runtime import jar; jar.ship()' \
    && pip wheel --no-cache-dir --no-deps --wheel-dir /dist .

FROM python:3.12-slim-bookworm
RUN apt-get update \
    && apt-get install -y --no-install-recommends openjdk-17-jre-headless \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /dist /dist
RUN pip install --no-cache-dir "$(ls /dist/flinkplan-*.whl)[cdc,delta,gateway,iceberg,kafka,lineage,python,s3,state]" \
    && rm -rf /dist \
    && useradd --create-home --uid 10001 flinkplan
USER 10001
WORKDIR /work
ENTRYPOINT ["flinkplan"]
CMD ["--help"]
