# hongbao as an image without a system: one static program, a user without rights, and the certificates of public authorities.
# docker build -t hongbao .
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o /out/hongbao ./cmd/hongbao \
 && mkdir -p /out/data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/hongbao /hongbao
COPY --from=build --chown=65532:65532 --chmod=0700 /out/data /data
USER 65532:65532
# The embedded database, unless HONGBAO_DATABASE_URL is set. All else may be read-only.
VOLUME /data
ENV HONGBAO_DATA_DIR=/data HONGBAO_ADDR=0.0.0.0:8080
EXPOSE 8080
# SIGTERM: not ready, then the drain. Give it HONGBAO_DRAIN_DELAY + HONGBAO_DRAIN + 30 s.
STOPSIGNAL SIGTERM
ENTRYPOINT ["/hongbao"]
