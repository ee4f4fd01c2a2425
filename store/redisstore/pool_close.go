package redisstore

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"hongbao/redpacket"
)

// Close implements redpacket.Pool.
func (p *Pool) Close(ctx context.Context, r redpacket.Ref, why redpacket.CloseReason) (redpacket.Closing, error) {
	k := p.keys(r.Partition)
	c := newCall(p.scripts.close, 2, 2)
	c.add(k.due, k.image+r.ID, r.ID, int(why))
	p.nodes.run(ctx, c)
	closing, err := readClosing(c.cmd)
	if err != nil {
		return redpacket.Closing{}, unavailable("close", err)
	}
	return closing, nil
}

func readClosing(cmd *redis.Cmd) (closing redpacket.Closing, err error) {
	reply, err := cmd.Slice()
	if err != nil || len(reply) == 0 {
		return redpacket.Closing{Missing: true}, err
	}
	r := reader{items: reply}
	closing.Refused = r.int() == 0
	closing.Reason = redpacket.Status(r.text())
	if closing.Refused {
		return closing, r.err
	}
	fields := reader{items: r.list()}
	closing.Grants = make([]redpacket.Grant, 0, len(fields.items)/2)
	for fields.more() {
		if name, value := fields.text(), fields.text(); !strings.HasPrefix(name, "#") {
			share, err := strconv.Atoi(value)
			if err != nil {
				return closing, err
			}
			closing.Grants = append(closing.Grants, redpacket.Grant{User: name, Share: share})
		}
	}
	slices.SortFunc(closing.Grants, func(a, b redpacket.Grant) int { return cmp.Compare(a.Share, b.Share) })
	return closing, cmp.Or(r.err, fields.err)
}
