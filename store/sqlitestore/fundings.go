package sqlitestore

import (
	"hongbao/chat"
	"hongbao/redpacket"
)

// hostKeyUsed reports whether the user has another funding with the host's key.
func (w *writer) hostKeyUsed(f redpacket.Funded) (used bool, err error) {
	_, err = w.Row(`select exists (select 1 from fundings where bucket = ? and user_id = ? and host_key = ? and id <> ?)`,
		[]any{chat.UserBucket(f.User), f.User, f.HostKey, f.ID}, &used)
	return used, err
}

// takeFunding sets the state of the packet's funding to sent, and credits its amount to the sender.
func (w *writer) takeFunding(o redpacket.UnsealedPacket) error {
	f := o.Funded
	switch used, err := w.hostKeyUsed(*f); {
	case err != nil:
		return err
	case used:
		return chat.ErrConflict
	}
	n, err := w.Exec(`update fundings set state = 'sent', settled_at = ?, amount = ?, host_key = ?, packet_id = ?
		where bucket = ? and user_id = ? and id = ? and state = 'asked'`,
		o.Packet.CreatedAt.UnixMilli(), f.Amount, f.HostKey, o.Packet.ID, chat.UserBucket(f.User), f.User, f.ID)
	if err != nil {
		return err
	}
	if n == 0 {
		return f.Void()
	}
	credit := o.FundingCredit()
	dup, err := w.Row(`select 1 from transfers where key = ?`, []any{credit.Key}, new(int))
	switch {
	case err != nil:
		return err
	case dup: // an earlier adjustment has used the key
		return chat.ErrConflict
	}
	details, err := f.Details()
	if err != nil {
		return err
	}
	return w.applyAdjustment(credit, details)
}
