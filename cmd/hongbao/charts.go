package main

import (
	"context"
	"time"

	"hongbao/store/chart"
	"hongbao/web/convert"
	"hongbao/web/host/hostapi"
)

// chartReading returns what the instance knows now for the charts of the console.
func (i *instance) chartReading() chart.Reading {
	s := i.server.Stats()
	r := chart.Reading{
		Counts:  chart.Counts{Delivered: s.Delivered, Won: s.Grabs.Won, Missed: s.Grabs.Empty + s.Grabs.Expired, Failed: s.Grabs.Failed},
		Sockets: int64(s.Connections), Took: i.packets.Stats().AnswerTime, Open: chart.Unknown, Escrow: chart.Unknown,
	}
	if sample := i.packets.LastSample(); sample != nil {
		r.Open, r.Escrow = int64(sample.Open), int64(sample.Escrow)
	}
	return r
}

// storedCharts reads the charts for the server API.
type storedCharts struct{ store chart.Store }

// read returns the figures of the last day.
func (c storedCharts) read(ctx context.Context) (hostapi.ChartsReply, error) {
	from := time.Now().Truncate(chart.Step).Add(-chart.Keep)
	points, err := c.store.Points(ctx, from)
	return hostapi.ChartsReply{From: from.UnixMilli(), StepS: int(chart.Step / time.Second), Points: convert.List(points, pointOf)}, err
}

func pointOf(p chart.Point) hostapi.ChartPoint {
	known := func(n int64) *int64 {
		if n == chart.Unknown {
			return nil
		}
		return &n
	}
	return hostapi.ChartPoint{
		At: convert.Millis(p.At), Instances: p.Instances, Sockets: p.Sockets, Delivered: p.Delivered, Won: p.Won, Missed: p.Missed, Failed: p.Failed,
		GrabP99US: p.P99.Microseconds(), Open: known(p.Open), Escrow: known(p.Escrow),
	}
}
