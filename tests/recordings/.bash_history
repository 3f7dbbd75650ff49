eval "$(_CTXMEASURE_COMPLETE=bash_source ctxmeasure)"
exit
