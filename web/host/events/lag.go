package events

import (
	"context"
	"time"

	"hongbao/store/eventlog"
)

// mostConsumers bounds how many consumers are measured: the host may create any number.
const mostConsumers = 100

// Lags returns the age of the oldest event that each consumer has not processed yet, by the consumer's name, as last measured. 0:
// it has processed all events. Consumers over mostConsumers, and those whose lag could not be measured, are left out.
func (s *Service) Lags() map[string]time.Duration {
	if lags := s.lags.Load(); lags != nil {
		return *lags
	}
	return nil
}

// Deliveries returns how many deliveries to the webhook this instance has tried, by outcome; nil: there is no webhook.
func (s *Service) Deliveries() map[string]int64 {
	if s.o.Webhook == nil {
		return nil
	}
	return s.o.Webhook.Deliveries()
}

// measureLags measures the lags of at most mostConsumers consumers. It logs when a consumer begins to be so late that events may
// be deleted before it gets them.
func (s *Service) measureLags(ctx context.Context) {
	consumers, err := s.o.Store.ConsumerList(ctx, mostConsumers)
	if err != nil {
		if ctx.Err() == nil {
			s.o.Log.Warn("lags of consumers not measured", "err", err)
		}
		return
	}
	lags, before := map[string]time.Duration{}, s.Lags()
	for _, c := range consumers {
		lag, err := s.lag(ctx, c)
		if err != nil {
			s.o.Log.Debug("lag of a consumer not measured", "consumer", c.Name, "err", err)
			continue
		}
		if late := s.o.Keep / 2; lag > late && before[c.Name] <= late {
			s.o.Log.Warn("consumer is late: events that are too old are deleted, even if it has not read them", "consumer", c.Name, "lag", lag, "kept", s.o.Keep)
		}
		lags[c.Name] = lag
	}
	s.lags.Store(&lags)
}

// lag returns the age of the consumer's next event. If events after the consumer's position were deleted, it returns
// Options.Keep.
func (s *Service) lag(ctx context.Context, c eventlog.Consumer) (time.Duration, error) {
	after, err := s.stored(ctx, c)
	if err != nil {
		return 0, err
	}
	for {
		b, err := s.o.Store.Events(ctx, eventlog.Query{After: after, Kinds: s.o.Kinds, Limit: 1})
		switch {
		case eventlog.Refused(err):
			return s.o.Keep, nil
		case err != nil:
			return 0, err
		case len(b.Events) > 0:
			return max(0, s.o.Now().Sub(b.Events[0].At)), nil
		case !b.More:
			return 0, nil
		}
		after = b.Next
	}
}
