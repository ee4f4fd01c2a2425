-- Nothing: the export of the ledger finds the transfers of a link by the indexes that 0006_chains.sql has made.
select 1;
