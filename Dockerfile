# retryd as an image: the base, the two programs, the libraries that they need.
#   docker build --tag retryd .        or, with another base: --build-arg BASE=registry.example/debian:12-slim
ARG BASE=debian:12-slim

FROM ${BASE} AS build
WORKDIR /src
COPY . .
# dpkg-dev and file find out which libraries the package depends on; all else that a build needs, ./dev knows.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends dpkg-dev file \
    && ./dev build \
    && cpack --config build/release/CPackConfig.cmake -G DEB -B /out

FROM ${BASE}
# The package brings exactly the libraries that it was linked with; ca-certificates are whom amqps:// trusts where the policy
# names nobody. /run/retryd belongs to the user below, so that a volume
# mounted there does too.
RUN --mount=type=bind,from=build,source=/out,target=/out \
    apt-get update \
    && apt-get install --yes --no-install-recommends /out/*.deb ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && install --directory --owner=65532 --group=65532 --mode=0750 /run/retryd

# Nobody in particular, as a number, which Kubernetes wants to see before it believes runAsNonRoot.
USER 65532:65532

# The root may be read-only. /run/retryd must be writable for the admin socket: a tmpfs, or a volume shared with the consumer.
ENTRYPOINT ["/usr/bin/retryd"]
CMD ["run", "--config", "/etc/retryd/retryd.yaml"]

# A drain, as for the service. It takes up to the longest timeout + 2 s: give `docker stop --time` more than that.
STOPSIGNAL SIGTERM

# Whether retryd itself lives; what holds a queue up is for /flowz and the metrics to tell.
HEALTHCHECK --interval=30s --timeout=6s --start-period=5s CMD ["/usr/bin/retryctl", "status"]
