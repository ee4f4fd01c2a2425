package trace

import (
	"context"
	"errors"
	"testing"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// TestOffCostsNothing makes all calls of one grab without a tracer. They must not allocate.
func TestOffCostsNothing(t *testing.T) {
	ctx, failed := t.Context(), errors.New("failed")
	if n := testing.AllocsPerRun(1000, func() { wholeGrab(ctx, failed) }); n != 0 {
		t.Errorf("%v allocations without a tracer, want none", n)
	}
}

func BenchmarkOff(b *testing.B) {
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		wholeGrab(ctx, nil)
	}
}

// wholeGrab makes the calls of one grab, and returns the traceparent of what it publishes.
func wholeGrab(ctx context.Context, failed error) string {
	ctx, command := Command(ctx, "grab", "")
	defer command.End(nil)
	pool, grab := Start(ctx, "pool.grab")
	grab.Text("hongbao.packet", "p")
	script := Batch("redis script", links(From(pool)))
	script.Number("hongbao.batch", 1)
	script.End(nil)
	grab.End(nil)
	settling, settle := Start(ctx, "ledger.settle")
	commit := Batch("postgres settle", links(From(settling)))
	commit.End(failed)
	settle.End(nil)
	published := From(ctx).Publish("publish wallet")
	defer published.End(nil)
	return published.Traceparent()
}

func links(l Link) []Link {
	if l.IsZero() {
		return nil
	}
	return []Link{l}
}

// record sets a tracer for the test and returns what it records.
func record(t *testing.T, sampler sdk.Sampler) *tracetest.SpanRecorder {
	t.Helper()
	spans := tracetest.NewSpanRecorder()
	Use(sdk.NewTracerProvider(sdk.WithSpanProcessor(spans), sdk.WithSampler(sampler)).Tracer("test"))
	t.Cleanup(func() { Use(nil) })
	return spans
}

func TestSpansOfAGrabAreOneTree(t *testing.T) {
	spans := record(t, sdk.AlwaysSample())
	delivered := Deliver("deliver", wholeGrab(t.Context(), errors.New("no space")))
	delivered.End(nil)
	parents, byID := map[string]string{}, map[string]string{}
	for _, s := range spans.Ended() {
		byID[s.SpanContext().SpanID().String()] = s.Name()
		if s.Name() == "postgres settle" && s.Status().Description != "no space" {
			t.Errorf("the failed commit has the status %+v, want that it has failed", s.Status())
		}
	}
	for _, s := range spans.Ended() {
		parents[s.Name()] = byID[s.Parent().SpanID().String()]
	}
	for name, parent := range map[string]string{
		"grab": "", "pool.grab": "grab", "redis script": "pool.grab", "ledger.settle": "grab", "postgres settle": "ledger.settle",
		"publish wallet": "grab", "deliver": "publish wallet",
	} {
		if got, ok := parents[name]; !ok || got != parent {
			t.Errorf("span %s has the parent %q (recorded: %t), want %q", name, got, ok, parent)
		}
	}
}

// TestBatchNamesAllCauses begins the span of a batch of three commands: it is a child of the first, and has links to the others.
func TestBatchNamesAllCauses(t *testing.T) {
	spans := record(t, sdk.AlwaysSample())
	var causes []Link
	for range 3 {
		ctx, _ := Command(t.Context(), "grab", "")
		causes = append(causes, From(ctx))
	}
	Batch("redis script", causes).End(nil)
	batch := spans.Ended()[0]
	if !batch.Parent().Equal(*causes[0].at) || len(batch.Links()) != 2 || !batch.Links()[1].SpanContext.Equal(*causes[2].at) {
		t.Errorf("the batch has the parent %v and the links %v, want %v and the two others", batch.Parent(), batch.Links(), causes[0].at)
	}
}

func TestNothingIsRecordedOfACommandThatIsNotSampled(t *testing.T) {
	spans := record(t, sdk.NeverSample())
	if named := wholeGrab(t.Context(), nil); named != "" || len(spans.Started()) != 0 {
		t.Errorf("published as %q with %d spans, want none", named, len(spans.Started()))
	}
}

func TestTraceparent(t *testing.T) {
	const id, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for text, want := range map[string]bool{
		"00-" + id + "-" + span + "-01":                       true,
		"00-" + id + "-" + span + "-00":                       true,
		"cc-" + id + "-" + span + "-01-more":                  true,
		"00-" + id + "-" + span + "-01-more":                  false,
		"cc-" + id + "-" + span + "-01more":                   false,
		"ff-" + id + "-" + span + "-01":                       false,
		"0x-" + id + "-" + span + "-01":                       false,
		"00-" + id + "-" + span + "-0x":                       false,
		"00-" + id + "-" + span + "-":                         false,
		"":                                                    false,
		"00-00000000000000000000000000000000-" + span + "-01": false,
		"00-" + id + "-0000000000000000-01":                   false,
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-" + span + "-01": false,
		"00_" + id + "-" + span + "-01":                       false,
	} {
		at, ok := parse(text)
		if ok != want || ok && (at.TraceID().String() != id || at.SpanID().String() != span || at.IsSampled() != (text[54] == '1')) {
			t.Errorf("%q is read as %v, %t; want accepted: %t", text, at, ok, want)
		}
	}
}
