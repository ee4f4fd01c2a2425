-- The export of the ledger finds the transfers of a link by these indexes. Links rise with time, so a block range index of the many claims
-- is small, and costs a grab next to nothing. One file, because the three only read their tables: nothing is sorted but what few rows the
-- conditions leave.
create index claims_link on claims using brin (link) with (pages_per_range = 32, autosummarize = on);
create index entries_packets_link on entries (link) where kind in ('packet', 'packet_done');
create index transfers_link on transfers (link) where link <> 0;
