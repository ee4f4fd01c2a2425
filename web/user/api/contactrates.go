package api

import (
	"context"

	"hongbao/chat"
)

// ContactRate says how often users may call a command by which they reach others: calls a minute, which may also come all at
// once. 0: any number. PerAddress is for guests only. InAll is for all guests together, and separately for all other users
// together, so that guests cannot use up the rate of the host's users.
type ContactRate struct{ PerUser, PerAddress, InAll int }

// ContactRates holds the rates of the commands by which users reach others. The zero value limits nothing.
type ContactRates struct{ CreateRoom, Invite, Direct ContactRate }

// spendContact counts a call over all instances: against its user, a guest's address, and all guests or all other users. A
// request that is not valid reaches nobody and is not counted.
func (r *Rates) spendContact(ctx context.Context, c Caller, command string, rate ContactRate, valid bool) error {
	if !valid {
		return nil
	}
	all := command + ":all"
	if c.User.Guest() {
		all = command + ":guests"
	}
	for _, bucket := range []struct {
		key       string
		perMinute int
	}{
		{command + ":user:" + c.User.ID, rate.PerUser},
		{command + ":address:" + c.Address, rate.PerAddress},
		{all, rate.InAll},
	} {
		if bucket.perMinute == 0 || bucket.key == command+":address:" {
			continue
		}
		limit := chat.Rate{PerSecond: float64(bucket.perMinute) / 60, Burst: bucket.perMinute}
		if err := r.take(ctx, bucket.key, limit, true); err != nil {
			return err
		}
	}
	return nil
}
