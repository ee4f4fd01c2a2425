-- The export of the ledger finds the transfers of a link by these indexes. Links rise with time, so a block range index of the many claims
-- is small, and costs a grab next to nothing. One file, because they only read their tables: nothing is sorted but what few rows the
-- conditions leave.
create index claims_link on claims using brin (link) with (pages_per_range = 32, autosummarize = on);
create index entries_packets_link on entries (link) where kind in ('packet', 'packet_done');
create index transfers_link on transfers (link) where link <> 0;
-- On Citus, a reader counts the visible rows of a young link.
create index entries_link on entries using brin (link) with (pages_per_range = 32, autosummarize = on);
create index packets_link on packets using brin (link) with (pages_per_range = 32, autosummarize = on);
