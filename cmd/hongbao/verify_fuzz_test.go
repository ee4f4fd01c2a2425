package main

import (
	"io"
	"strings"
	"testing"

	"hongbao/chat"
	"hongbao/redpacket"
)

// FuzzReadProof reads any file as a proof. A file of another form must be an error, and a packet may verify only if
// all of it follows from the seed.
func FuzzReadProof(f *testing.F) {
	f.Add(`{"sender":"ann","key":"k","mode":"lucky","spread":"classic","total":1000,"count":5,` +
		`"seed":"dd56de4137951d9c92681b03416ec15f886b4482a27e3a517d32f085244cbe5d",` +
		`"commitment":"b242b51bf03d0e1205c22701262660d8551a426d53fe5b42cf73cfafa20cdf8d","shares":[134,413,159,278,16]}`)
	f.Add(`{"sender":"ann","key":"k","mode":"equal","total":10,"count":5,"seed":"` + strings.Repeat("0", 64) + `","commitment":"x","shares":[]}`)
	f.Add(`{"total":-1,"count":9223372036854775807}`)
	f.Add(`{"seed":7}`)
	f.Add(``)
	f.Fuzz(func(t *testing.T, text string) {
		p := &program{stdout: io.Discard, stderr: io.Discard}
		var q shareProof
		if readProof([]byte(text), &q) != nil {
			return
		}
		if p.verify(q) != nil {
			return
		}
		seed, err := q.check()
		noError(t, err)
		shares, err := redpacket.Cut(seed, redpacket.Packet{
			From: chat.User{ID: q.Sender}, Key: q.Key, Mode: q.Mode, Spread: q.Spread, Total: redpacket.Money(q.Total), Count: q.Count,
		})
		sum := redpacket.Money(0)
		for i, share := range shares {
			sum += share
			if q.Shares != nil && (i >= len(q.Shares) || q.Shares[i] != share) {
				t.Errorf("verify accepts shares %v, but share %d is %d", q.Shares, i, share)
			}
		}
		if err != nil || len(shares) != q.Count || sum != redpacket.Money(q.Total) || redpacket.Commitment(seed) != strings.ToLower(q.Commitment) {
			t.Errorf("verify accepts %+v, but Cut returns shares %v, error %v", q, shares, err)
		}
	})
}
