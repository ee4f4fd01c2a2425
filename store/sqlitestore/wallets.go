package sqlitestore

import (
	"hongbao/redpacket"
	"hongbao/store/tables"
)

// limitDay fails if the packet goes over what its sender may send a day.
func (w *writer) limitDay(o redpacket.UnsealedPacket) error {
	if !o.LimitsSends() {
		return nil
	}
	used, err := tables.ReadDayUse(w, o.Packet.From.ID, o.Day())
	if err != nil {
		return err
	}
	return o.CheckDay(used)
}
