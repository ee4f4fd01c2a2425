package trace

import (
	"context"
	"encoding/hex"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	oteltrace "go.opentelemetry.io/otel/trace"
)

// tracer makes the spans. It is nil while traces are off.
var tracer atomic.Pointer[oteltrace.Tracer]

// Use sets the tracer that makes all later spans. Nil turns traces off.
func Use(t oteltrace.Tracer) {
	if t == nil {
		tracer.Store(nil)
		return
	}
	tracer.Store(&t)
}

// On reports whether there is a tracer.
func On() bool { return tracer.Load() != nil }

// Span is one step of a command. The zero Span records nothing. Its methods must not be called after End.
type Span struct{ span oteltrace.Span }

// Link names a span as the cause of others. The zero Link names none.
type Link struct{ at *oteltrace.SpanContext }

// Command begins the span of a client's command. If traceparent is valid, the span continues the trace of the client. The
// sampler decides whether the command is recorded. If not, Command returns ctx as it is, and the zero Span.
func Command(ctx context.Context, name, traceparent string) (context.Context, Span) {
	t := tracer.Load()
	if t == nil {
		return ctx, Span{}
	}
	parent := ctx
	if from, ok := parse(traceparent); ok {
		parent = oteltrace.ContextWithRemoteSpanContext(ctx, from)
	}
	with, span := (*t).Start(parent, name, oteltrace.WithSpanKind(oteltrace.SpanKindServer))
	if !span.IsRecording() {
		return ctx, Span{}
	}
	return with, Span{span}
}

// Start begins a child of the context's span. It returns the zero Span if the context has no span, or one that is not sampled.
func Start(ctx context.Context, name string) (context.Context, Span) {
	t := tracer.Load()
	if t == nil || !oteltrace.SpanContextFromContext(ctx).IsSampled() {
		return ctx, Span{}
	}
	ctx, span := (*t).Start(ctx, name) //nolint:spancheck // the caller ends it
	return ctx, Span{span}             //nolint:spancheck // as above
}

// From returns the link to the span of the context. It returns the zero Link if the context has no span, or one that is not
// sampled.
func From(ctx context.Context) Link {
	if tracer.Load() == nil {
		return Link{}
	}
	at := oteltrace.SpanContextFromContext(ctx)
	if !at.IsSampled() {
		return Link{}
	}
	return Link{&at}
}

// IsZero reports whether the link names no span.
func (l Link) IsZero() bool { return l.at == nil }

// maxLinks bounds the links of one span. OpenTelemetry keeps no more by default.
const maxLinks = 128

// Batch begins the span of a call to an engine that serves several commands. The span is a child of the first link's span, and
// has the other links as its links, at most maxLinks of them. Without any link it is the zero Span.
func Batch(name string, links []Link) Span {
	t := tracer.Load()
	if t == nil || len(links) == 0 {
		return Span{}
	}
	var others []oteltrace.Link
	for _, l := range links[1:min(len(links), maxLinks+1)] {
		others = append(others, oteltrace.Link{SpanContext: *l.at})
	}
	return links[0].begin(*t, name, oteltrace.SpanKindClient, others...)
}

// Publish begins the span of publishing a message that the linked span has caused.
func (l Link) Publish(name string) Span {
	t := tracer.Load()
	if t == nil || l.at == nil {
		return Span{}
	}
	return l.begin(*t, name, oteltrace.SpanKindProducer)
}

// Deliver begins the span of delivering a message that another instance has published with this traceparent.
func Deliver(name, traceparent string) Span {
	t := tracer.Load()
	if t == nil {
		return Span{}
	}
	from, ok := parse(traceparent)
	if !ok {
		return Span{}
	}
	return Link{&from}.begin(*t, name, oteltrace.SpanKindConsumer)
}

func (l Link) begin(t oteltrace.Tracer, name string, kind oteltrace.SpanKind, links ...oteltrace.Link) Span {
	parent := oteltrace.ContextWithSpanContext(context.Background(), *l.at)
	_, span := t.Start(parent, name, oteltrace.WithSpanKind(kind), oteltrace.WithLinks(links...)) //nolint:spancheck // the caller ends it
	return Span{span}                                                                             //nolint:spancheck // as above
}

// IsZero reports whether the span records nothing.
func (s Span) IsZero() bool { return s.span == nil }

// Text adds an attribute.
func (s Span) Text(key, value string) {
	if s.span != nil {
		s.span.SetAttributes(attribute.String(key, value))
	}
}

// Number adds an attribute.
func (s Span) Number(key string, value int) {
	if s.span != nil {
		s.span.SetAttributes(attribute.Int(key, value))
	}
}

// End ends the span. An error marks the span as failed.
func (s Span) End(err error) {
	if s.span == nil {
		return
	}
	if err != nil {
		s.span.SetStatus(codes.Error, err.Error())
	}
	s.span.End()
}

// Traceparent names the span as the W3C recommendation Trace Context does. It is empty for the zero Span.
func (s Span) Traceparent() string {
	if s.span == nil {
		return ""
	}
	at := s.span.SpanContext()
	return "00-" + at.TraceID().String() + "-" + at.SpanID().String() + "-" + at.TraceFlags().String()
}

// traceparentLen is the length of a traceparent of version 00.
const traceparentLen = 55

// parse reads a traceparent. A later version may have more fields at its end.
func parse(traceparent string) (at oteltrace.SpanContext, ok bool) {
	if len(traceparent) < traceparentLen || len(traceparent) > traceparentLen && (traceparent[:2] == "00" || traceparent[traceparentLen] != '-') {
		return at, false
	}
	fields := strings.SplitN(traceparent[:traceparentLen], "-", 4)
	if len(fields) != 4 || len(fields[0]) != 2 || fields[0] == "ff" || len(fields[3]) != 2 || strings.ToLower(traceparent) != traceparent {
		return at, false
	}
	_, badVersion := hex.DecodeString(fields[0])
	flags, badFlags := hex.DecodeString(fields[3])
	id, badTrace := oteltrace.TraceIDFromHex(fields[1])
	span, badSpan := oteltrace.SpanIDFromHex(fields[2])
	if badVersion != nil || badFlags != nil || badTrace != nil || badSpan != nil {
		return at, false
	}
	return oteltrace.NewSpanContext(oteltrace.SpanContextConfig{
		TraceID: id, SpanID: span, TraceFlags: oteltrace.TraceFlags(flags[0]) & oteltrace.FlagsSampled, Remote: true,
	}), true
}
