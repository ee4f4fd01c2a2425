package audit

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"hongbao/redpacket"
	"hongbao/store/chain"
	"hongbao/store/tables"
)

// whole is the scope of an audit that looks at all rows.
var whole = strings.NewReplacer("{entries}", "entries", "{packets}", "packets", "{claims}", "claims", "{links}", "links",
	"{erasures}", ofCoordinator("erasures"), "{retention}", ofCoordinator("retention"), "{newer}", "true", "{amended}", "true", "{amends}", "true")

// oldest returns a query for the lowest id of all links that are newer than the head of their chain in since. All links of a chain
// without a head in since count as newer. If the lowest id is higher than all heads in since, or there is no newer link, the query
// returns the highest head + 1. since must have at least one head.
func oldest(since []redpacket.Head) string {
	var known strings.Builder
	next := int64(1)
	for _, h := range since {
		fmt.Fprintf(&known, " when %d then %d", chain.Link{ID: h.Link}.Chain(), h.Link)
		next = max(next, min(h.Link, math.MaxInt64-1)+1)
	}
	return fmt.Sprintf(`select case when min(l.id) < %d then min(l.id) else %[1]d end
		from chains c join links l on l.chain = c.id and l.id > case c.id%s else 0 end`, next, &known)
}

// newer returns the scope of an audit that looks only at
//
//   - entries, claims and transfers without a link, and those whose link has at least the id oldest,
//   - packets without a link, packets whose link has at least that id, open packets, and packets that have ended since that link,
//   - texts and packets that were amended since that link,
//   - links whose id is at least oldest, and the links of heads, which must still be there.
func newer(oldest int64, heads []redpacket.Head) *strings.Replacer {
	known := make([]string, len(heads))
	for i, h := range heads {
		known[i] = strconv.FormatInt(h.Link, 10)
	}
	rows := fmt.Sprintf(`(link >= %d or link = 0)`, oldest)
	amended := fmt.Sprintf(`(select room_id, target from entries where target <> 0 and link >= %d)`, oldest)
	return strings.NewReplacer(
		"{entries}", part("entries", rows),
		"{claims}", part("claims", rows),
		// A packet that is open may have new claims. A packet that has ended has an entry that says so.
		"{packets}", part("packets", fmt.Sprintf(`id in (select id from packets where %s union select id from packets where status = 'open'
			union select p.id from packets p join entries d on d.room_id = p.room_id and d.seq = p.done_seq
				where d.kind = 'packet_done' and d.link >= %d)`, rows, oldest)),
		"{links}", part("links", fmt.Sprintf(`id >= %d or id in (%s)`, oldest, strings.Join(known, ", "))),
		"{erasures}", ofCoordinator("erasures"), "{retention}", ofCoordinator("retention"),
		"{newer}", rows,
		"{amended}", `(room_id, seq) in `+amended,
		"{amends}", `(room_id, target) in `+amended,
	)
}

// ofCoordinator returns what to select from for a table that Citus keeps on its coordinator: it joins it with split tables only after it has read it.
func ofCoordinator(table string) string {
	return tables.Named(table, "(select * from "+table+" offset 0)") //nolint:unqueryvet // it stands for the table
}

// part returns a subquery for the rows of the table that meet the condition, with all columns.
func part(table, condition string) string {
	return "(select * from " + table + " where " + condition + ")" //nolint:unqueryvet // it stands for the table
}
