package client

import (
	"cmp"
	"context"

	"hongbao/web/wire"
)

// Report is what the user tells the host: about the text or packet Seq of the room, or about a user.
type Report struct {
	Room   string // of the entry; in a report about a user: the room in which the reporter met the user, or ""
	Seq    int64
	User   string
	Reason string // spam, scam, abuse, sexual, violence or other
	Text   string
	Key    string // identifies this report; "": a random key is used
}

// Report reports an entry or a user to the host. It returns the id of the report. If the user has reported the same before and that
// report is still open, it returns the id of that report.
func (c *Client) Report(ctx context.Context, r Report) (string, error) {
	var reply wire.ReportReply
	err := c.Call(ctx, "report", wire.ReportRequest{
		Key: cmp.Or(r.Key, newKey()), Room: r.Room, Seq: r.Seq, User: r.User, Reason: r.Reason, Text: r.Text,
	}, &reply)
	return reply.Report, err
}
